/** What is sorted in pieces: units that are read once in order, and where that can be also at any position. */
import { createHash } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import { Random } from '../../util/random.js';
import { assertNotAborted, ioError } from '../raw.js';
import { readFully } from './spill.js';

/** Units on their way in. */
export interface RecordInput {
  /** For messages: the path, or `stdin`. */
  readonly name: string;
  /** The file behind it; undefined for what cannot be opened a second time, as a pipe. */
  readonly path: string | undefined;
  /** Where in the file the units begin, when they stand there one behind the other as they are sorted. */
  readonly plainAt: number | undefined;
  /** Bytes of all units; undefined while that is not known. */
  readonly bytes: number | undefined;
  /** The units in order, in pieces of whole ones; to be taken once. */
  pieces(): AsyncGenerator<Uint8Array>;
}

/** By which a file is known again. */
export interface InputIdentity {
  readonly name: string;
  readonly bytes: number;
  /** Nanoseconds. */
  readonly modified: string;
  /** Of bytes from all over the file. */
  readonly checksum: string;
}

/** Places of a file that its identity has bytes of, and how many of each. */
const SAMPLE_PLACES = 64;
const SAMPLE_BYTES = 4096;

/** @throws IoError */
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

/** Is there a file that can be read at any position, and a second time? */
export const isRegular = async (path: string | undefined): Promise<boolean> =>
  path !== undefined && ((await stat(path).catch(() => undefined))?.isFile() ?? false);

/** Bytes of a file that are read at any position. */
export interface OpenFile {
  readAt(into: Uint8Array, position: number): Promise<void>;
  close(): Promise<void>;
}

/** @param base  where position 0 is */
export async function openFile(path: string, base: number, signal: AbortSignal): Promise<OpenFile> {
  const handle = await open(path, 'r').catch((error) => {
    throw ioError('read', path, error);
  });
  return {
    async readAt(into, position) {
      assertNotAborted(signal);
      await readFully(handle, into, base + position, path).catch((error) => {
        throw ioError('read', path, error);
      });
    },
    close: () => handle.close(),
  };
}

/**
 * The bytes from `begin` to `end`, read into two buffers by turns: the next piece is read while one is used. A piece
 * is good until the next but one is asked for.
 *
 * @param room memory for both; each piece has half of it, in whole units
 */
export async function* piecesOf(
  readAt: (into: Uint8Array, position: number) => Promise<void>,
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
    reading.catch(() => undefined); // it is awaited, perhaps after another failure
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
 * The bytes of pieces of any length in pieces of one, but for the last, in two buffers by turns. A piece is good until
 * the next but one is asked for.
 *
 * @param buffer memory for both; each piece has half of it, in whole units
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
