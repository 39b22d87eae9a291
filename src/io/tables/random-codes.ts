import type { Random } from '../../util/random.js';
import type { RowBatch } from './row-source.js';

/** Bytes of a random code. */
export const CODE_BYTES = 8;

/** Returns a random code for each row: numbers of 64 bits, big-endian, so that their bytes are in the order of the numbers. */
export function randomCodes(random: Random, { rows }: Pick<RowBatch, 'rows'>): Uint8Array {
  const codes = new Uint8Array(rows * CODE_BYTES);
  const view = new DataView(codes.buffer);
  for (let at = 0; at < codes.length; at += 4) view.setUint32(at, random.u32());
  return codes;
}
