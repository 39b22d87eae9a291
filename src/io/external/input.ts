/** Inputs of external sorts: records that are read once in order, and at any position where possible. */
import { createHash } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import { Random } from '../../util/random.js';
import type { ReadAt } from '../records/record-input.js';
import { ioError } from '../streams/raw.js';
import { SAMPLE_BYTES, SAMPLE_PLACES } from './policy.js';
import { readFully } from './spill.js';

/** Identifies the content of a file. */
export interface InputIdentity {
  readonly name: string;
  readonly bytes: number;
  /** Time of last modification in nanoseconds. */
  readonly modified: string;
  /** Hash of sample bytes from the whole file. */
  readonly checksum: string;
}

/**
 * Returns the identity of a file.
 *
 * @throws IoError when reading fails
 */
export async function identityOf(path: string): Promise<InputIdentity> {
  try {
    const handle = await open(path, 'r');
    try {
      const { size, mtimeNs } = await handle.stat({ bigint: true });
      const bytes = Number(size);
      const hash = createHash('sha256');
      const random = new Random(bytes);
      const place = new Uint8Array(Math.min(SAMPLE_BYTES, bytes));
      for (let i = 0; i < SAMPLE_PLACES && bytes > 0; i++) {
        const buffer = bytes - place.length;
        const at = i === 0 ? 0 : i === 1 ? buffer : Math.floor((random.u32() / 2 ** 32) * (buffer + 1));
        await readFully(handle, place, at, path);
        hash.update(place);
      }
      return { name: path, bytes, modified: String(mtimeNs), checksum: hash.digest('hex') };
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw ioError('read', path, error);
  }
}

/** Whether the path names a regular file, which can be read at any position and repeatedly. */
export const isRegular = async (path: string | undefined): Promise<boolean> =>
  path !== undefined && ((await stat(path).catch(() => undefined))?.isFile() ?? false);

/**
 * Yields the bytes from `begin` to `end`, read into two buffers in alternation: the next piece is read while one is
 * used. A piece is valid until the second next one is requested.
 *
 * @param readAt reads bytes at a position
 * @param options.buffer memory for both; each piece takes half of it, in whole records
 */
export async function* piecesOf(
  readAt: ReadAt,
  {
    begin,
    end,
    recordBytes,
    buffer,
  }: { begin: number; end: number; recordBytes: number; buffer: Uint8Array },
): AsyncGenerator<Uint8Array> {
  const maxBytes = Math.max(1, Math.floor(buffer.length / 2 / recordBytes)) * recordBytes;
  const read = (position: number, half: number): Promise<Uint8Array> | undefined => {
    if (position >= end) return undefined;
    const piece = buffer.subarray(half * maxBytes, half * maxBytes + Math.min(maxBytes, end - position));
    const reading = readAt(piece, position).then(() => piece);
    reading.catch(() => undefined); // awaited later, possibly after another failure
    return reading;
  };
  let next = read(begin, 0);
  for (let position = begin + maxBytes, half = 1; next; position += maxBytes, half = 1 - half) {
    const piece = await next;
    next = read(position, half);
    yield piece;
    if (next === undefined) return;
  }
}

/**
 * Regroups pieces of any length into pieces of equal length, except the last, in two buffers in alternation. A piece is
 * valid until the second next one is requested.
 *
 * @param pieces the input
 * @param recordBytes record size in bytes
 * @param buffer memory for both; each piece takes half of it, in whole records
 */
export async function* regroupPieces(
  pieces: AsyncIterable<Uint8Array>,
  recordBytes: number,
  buffer: Uint8Array,
): AsyncGenerator<Uint8Array> {
  const maxBytes = Math.max(1, Math.floor(buffer.length / 2 / recordBytes)) * recordBytes;
  let [begin, filled] = [0, 0];
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + maxBytes - filled);
      buffer.set(part, begin + filled);
      filled += part.length;
      at += part.length;
      if (filled < maxBytes) continue;
      yield buffer.subarray(begin, begin + filled);
      begin = maxBytes - begin;
      filled = 0;
    }
  }
  if (filled > 0) yield buffer.subarray(begin, begin + filled);
}
