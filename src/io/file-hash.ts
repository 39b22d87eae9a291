/** Checksums of files, made of what is read and written anyway. */
import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import * as cl from '../opencl/index.js';
import { UnsupportedError } from '../util/errors.js';

/** Bytes that are read at a time for the checksum alone. */
const SLICE_BYTES = 4 * 2 ** 20;
/** Fewer bytes wait for others, since it takes another thread to hash them. */
const MIN_HASH_BYTES = 2 ** 16;

/** The words that the addon keeps of a hash: the first one is the hash of all so far. */
const HASH_WORDS = 10;

interface HashState {
  readonly words: BigUint64Array<ArrayBuffer>;
  /** Where there is no addon. */
  crc: number | undefined;
}

/**
 * The checksum of one file, which may be read or written in any order: what comes in the file's order is taken, and what is
 * missing in the end is read.
 */
export class FileHash {
  #state: HashState = { words: new BigUint64Array(HASH_WORDS), crc: undefined };
  /** Bytes from the beginning that were taken. */
  #bytes = 0;
  /** Copies of those that are not hashed yet. */
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #adding: Promise<void> = Promise.resolve();

  /** Bytes from the beginning of the file that are known. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Takes what stands at a position of the file.
   *
   * @returns when `piece` may be used again
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
    this.#adding.catch(() => undefined); // it is awaited, perhaps after another failure
    return this.#adding;
  }

  /**
   * Lets somebody move bytes and hash them on the way.
   *
   * @param move gets the words of the hash and how many of the first bytes are in it already; nothing, where what comes before
   * is not known. It tells how many bytes from `position` on it has moved, which are in the words then.
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
      this.invalidate(); // who knows what is in the words
      throw error;
    }
  }

  /** Something was changed that was taken already: all is to be read again. */
  invalidate(): void {
    this.#state = { words: new BigUint64Array(HASH_WORDS), crc: undefined };
    [this.#bytes, this.#pending, this.#pendingBytes] = [0, [], 0];
  }

  /**
   * The checksum of a file of so many bytes: its kind, a colon and hexadecimal digits.
   *
   * @param file its path, or itself where another one has that by now; what was not seen of it is read
   * @throws what reading throws
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
      return await cl.hashAsync(bytes, state.words);
    } catch (error) {
      if (!(error instanceof UnsupportedError)) throw error;
    }
  }
  state.crc = crc32(bytes, state.crc ?? 0);
}

/** Checksums of the files that a job reads and writes, by the names that it has for them. */
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
