/** Checksums of files, computed from data that is read or written anyway. */
import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { hashAsync } from '../../native-host/host-functions.js';
import { UnsupportedError } from '../../util/errors.js';
import { MIN_HASH_BYTES, SLICE_BYTES } from './policy.js';

/** Words of the addon's hash state; the first one is the hash of all bytes so far. */
const HASH_WORDS = 10;

interface HashState {
  readonly words: BigUint64Array<ArrayBuffer>;
  /** CRC-32 without the addon; undefined with it. */
  crc: number | undefined;
}

/**
 * The checksum of one file that may be read or written in any order. Bytes that arrive in file order are hashed at
 * once; missing bytes are read at the end.
 */
export class FileHash {
  #state: HashState = { words: new BigUint64Array(HASH_WORDS), crc: undefined };
  /** Length in bytes of the hashed or pending prefix. */
  #bytes = 0;
  /** Copies of bytes that are not hashed yet. */
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #adding: Promise<void> = Promise.resolve();

  /** Length in bytes of the known prefix of the file. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Adds the bytes at a position of the file.
   *
   * @param piece the bytes
   * @param position their offset in the file
   * @returns a promise that resolves when `piece` may be reused
   */
  add(piece: Uint8Array, position: number): Promise<void> {
    const isNext = position <= this.#bytes && position + piece.length > this.#bytes;
    if (!isNext) return this.#adding;
    const bytes = piece.subarray(this.#bytes - position);
    this.#bytes = position + piece.length;
    if (this.#pendingBytes + bytes.length < MIN_HASH_BYTES) {
      this.#pending.push(bytes.slice());
      this.#pendingBytes += bytes.length;
      return this.#adding;
    }
    const pending = this.#hashPending();
    const state = this.#state;
    this.#adding = this.#adding.then(async () => {
      if (pending) await updateHash(pending, state);
      await updateHash(bytes, state);
    });
    this.#adding.catch(() => undefined); // awaited later, possibly after another failure
    return this.#adding;
  }

  /**
   * Lets a callback move bytes and hash them on the way.
   *
   * @param position offset in the file of the first byte to move
   * @param move receives the hash words and the number of leading bytes that are hashed already, or nothing when the
   * bytes before `position` are unknown; returns the number of bytes moved from `position` on, which the words then
   * include
   * @returns the number of bytes moved
   */
  async hashWhileMoving(
    position: number,
    move: (hash?: { readonly words: BigUint64Array; readonly skipped: number }) => Promise<number>,
  ): Promise<number> {
    await this.#adding;
    const pending = this.#hashPending();
    if (pending) await updateHash(pending, this.#state);
    const { words, crc } = this.#state;
    if (crc !== undefined || this.#bytes < position) return move();
    try {
      const moved = await move({ words, skipped: this.#bytes - position });
      this.#bytes = Math.max(this.#bytes, position + moved);
      return moved;
    } catch (error) {
      this.invalidate(); // the state of the words is unknown
      throw error;
    }
  }

  /** Discards the hash after a change of hashed bytes; all bytes must be read again. */
  invalidate(): void {
    this.#state = { words: new BigUint64Array(HASH_WORDS), crc: undefined };
    [this.#bytes, this.#pending, this.#pendingBytes] = [0, [], 0];
  }

  /**
   * Returns the checksum of a file: its algorithm, a colon and hexadecimal digits.
   *
   * @param bytes size of the file
   * @param file path, or an open handle when another file has taken that path; bytes not seen so far are read from it
   * @param signal aborts the reading
   * @throws errors of reading
   */
  async end(bytes: number, file: string | FileHandle, signal: AbortSignal): Promise<string> {
    if (this.#bytes > bytes) this.invalidate();
    await this.#adding;
    if (this.#bytes < bytes) await this.#readRest(bytes, file, signal);
    const pending = this.#hashPending();
    await this.#adding;
    if (pending || bytes === 0) await updateHash(pending ?? new Uint8Array(0), this.#state);
    const { words, crc } = this.#state;
    if (crc !== undefined) return `crc32:${crc.toString(16).padStart(8, '0')}`;
    return `xxh64:${(words[0] ?? 0n).toString(16).padStart(16, '0')}`;
  }

  async #readRest(bytes: number, file: string | FileHandle, signal: AbortSignal): Promise<void> {
    const handle = typeof file === 'string' ? await open(file) : file;
    try {
      const slice = new Uint8Array(Math.min(SLICE_BYTES, bytes - this.#bytes));
      while (this.#bytes < bytes) {
        signal.throwIfAborted();
        const maxBytes = Math.min(slice.length, bytes - this.#bytes);
        const { bytesRead } = await handle.read(slice, 0, maxBytes, this.#bytes);
        if (bytesRead === 0) return;
        await this.add(slice.subarray(0, bytesRead), this.#bytes);
      }
    } finally {
      if (handle !== file) await handle.close();
    }
  }

  #hashPending(): Uint8Array | undefined {
    if (this.#pendingBytes === 0) return undefined;
    const pending = Buffer.concat(this.#pending, this.#pendingBytes);
    [this.#pending, this.#pendingBytes] = [[], 0];
    return pending;
  }
}

async function updateHash(bytes: Uint8Array, state: HashState): Promise<void> {
  if (state.crc === undefined) {
    try {
      return await hashAsync(bytes, state.words);
    } catch (error) {
      if (!(error instanceof UnsupportedError)) throw error;
    }
  }
  state.crc = crc32(bytes, state.crc ?? 0);
}

/** Checksums of the files that a job reads and writes, by the names the job uses for them. */
export class FileHashes {
  readonly #read = new Map<string, FileHash>();
  readonly #written = new Map<string, FileHash>();

  forInput(path: string): FileHash {
    return hashFor(this.#read, path);
  }

  forOutput(path: string): FileHash {
    return hashFor(this.#written, path);
  }
}

function hashFor(hashes: Map<string, FileHash>, path: string): FileHash {
  const hash = hashes.get(path) ?? new FileHash();
  hashes.set(path, hash);
  return hash;
}
