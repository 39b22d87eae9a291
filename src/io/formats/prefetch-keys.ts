import { dtypeInfo } from '../../keys/dtype.js';
import type { KeyReader } from './key-file.js';

/**
 * Reads keys of unknown count until they end or exceed `maxBytes`. If they end, the returned reader knows their count.
 *
 * @param reader source of the keys
 * @param maxBytes maximum bytes to hold
 * @returns a reader that starts with the keys read so far
 */
export async function prefetchKeys(reader: KeyReader, maxBytes: number): Promise<KeyReader> {
  if (reader.n !== undefined) return reader;
  const { name, format, dtype, column, bigEndian } = reader;
  const rest = reader.pieces();
  const held: Uint8Array[] = [];
  let bytes = 0;
  let ended = false;
  while (bytes <= maxBytes && !ended) {
    const { value, done } = await rest.next();
    if (done) ended = true;
    else {
      held.push(value.slice()); // the source may reuse the memory for the next piece
      bytes += value.length;
    }
  }
  const n = ended ? bytes / dtypeInfo(dtype).bytes : undefined;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let piece = held.shift(); piece; piece = held.shift()) yield piece;
    if (!ended) yield* rest;
  }
  const shape = n === undefined ? undefined : [n];
  const facts = { name, format, dtype, n, shape, column, bigEndian, plainAt: undefined };
  return { ...facts, pieces, close: () => reader.close() };
}
