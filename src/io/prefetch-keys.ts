import { dtypeInfo } from '../keys/dtype.js';
import type { KeyReader } from './formats/key-file.js';

/**
 * Reads keys whose number is not known until there are so many bytes of them, or no more: then they are counted.
 *
 * @returns a reader that begins with what was read
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
      held.push(value.slice()); // whose memory may serve for the next one
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
