import { bytesOf, newArray } from '../../keys/array.js';
import { dtypeInfo, type KeyArray } from '../../keys/dtype.js';
import type { ArrayPool } from '../streams/array-pool.js';
import { PIECE_BYTES } from '../streams/policy.js';
import type { KeyReader, KeyWriter } from './key-file.js';

/** Bytes per read into an array. */
const READ_BYTES = 64 * PIECE_BYTES;

/**
 * Reads all keys of a reader into one array.
 *
 * The array is allocated up front only when the file size confirms the key count in its header.
 *
 * @param reader source of the keys
 * @param arrays pool for the array when the key count is known; the caller releases the array
 * @throws errors of the reader
 * @throws InputError when there are more keys than an array can hold
 */
export async function readKeys(reader: KeyReader, arrays?: ArrayPool): Promise<KeyArray> {
  const { dtype, n, readAt } = reader;
  if (n !== undefined && readAt) {
    const keys = arrays?.take(dtype, n) ?? newArray(dtype, n);
    try {
      for (let at = 0; at < keys.byteLength; at += READ_BYTES) {
        await readAt(bytesOf(keys, at, Math.min(at + READ_BYTES, keys.byteLength)), at);
      }
    } catch (error) {
      arrays?.release(keys);
      throw error;
    }
    return keys;
  }
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of reader.pieces()) {
    pieces.push(piece);
    bytes += piece.length;
  }
  return concatenateKeys(reader, pieces, bytes);
}

function concatenateKeys({ dtype }: KeyReader, pieces: Uint8Array[], bytes: number): KeyArray {
  const keys = newArray(dtype, bytes / dtypeInfo(dtype).bytes);
  let at = 0;
  for (let piece = pieces.shift(); piece; piece = pieces.shift()) {
    bytesOf(keys, at, at + piece.length).set(piece);
    at += piece.length;
  }
  return keys;
}

/** Writes an array in pieces. */
export async function writeKeys(writer: Pick<KeyWriter, 'write'>, keys: ArrayBufferView): Promise<void> {
  for (let at = 0; at < keys.byteLength; at += PIECE_BYTES) {
    await writer.write(bytesOf(keys, at, Math.min(at + PIECE_BYTES, keys.byteLength)));
  }
}

/** Yields the keys of a reader in arrays of `count` keys; the last one may be shorter. */
export async function* keyGroups(reader: KeyReader, count: number): AsyncGenerator<KeyArray> {
  const { dtype } = reader;
  const maxBytes = count * dtypeInfo(dtype).bytes;
  let pending: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of reader.pieces()) {
    for (let rest = piece; rest.length > 0; ) {
      const part = rest.subarray(0, maxBytes - bytes);
      rest = rest.subarray(part.length);
      pending.push(part);
      bytes += part.length;
      if (bytes < maxBytes) continue;
      yield concatenateKeys(reader, pending, bytes);
      pending = [];
      bytes = 0;
    }
  }
  if (bytes > 0) yield concatenateKeys(reader, pending, bytes);
}
