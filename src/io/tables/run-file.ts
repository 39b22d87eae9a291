/**
 * Runs: sorted entries in temporary files. An entry consists of the lengths of its key and its value (32 bits each),
 * the key and the value. Keys are unique, prefix-free byte strings.
 */
import { type FileHandle, open, rm } from 'node:fs/promises';
import type { ElementSum } from '../../sort/host/element-sum.js';
import { IoError } from '../../util/errors.js';
import { wordAt } from '../../util/word-at.js';
import { ioError, writeFully } from '../streams/raw.js';
import type { Entry, EntrySink } from './entry.js';
import { WRITE_BYTES } from './policy.js';

/** Size of the two lengths. */
export const HEAD_BYTES = 8;

/** A run on disk. */
export interface Run {
  readonly path: string;
  readonly entries: number;
  readonly bytes: number;
  /** Checksum of all entries; undefined without verification. */
  readonly sum: ElementSum | undefined;
}

export class RunWriter implements EntrySink {
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #sum: ElementSum | undefined;
  #memory = Buffer.allocUnsafe(WRITE_BYTES + 2 ** 16);
  #used = 0;
  #entries = 0;
  #bytes = 0;

  private constructor(path: string, handle: FileHandle, sum: ElementSum | undefined) {
    this.#path = path;
    this.#handle = handle;
    this.#sum = sum;
  }

  /** @throws IoError when the file cannot be created */
  static async create(path: string, sum: ElementSum | undefined): Promise<RunWriter> {
    const handle = await open(path, 'wx', 0o600).catch((error) => {
      throw ioError('write', path, error);
    });
    return new RunWriter(path, handle, sum);
  }

  /**
   * Appends an entry whose key is the concatenation of parts.
   *
   * @returns whether the caller must await `flush` before the next entry
   */
  add(key: readonly Uint8Array[], value: Uint8Array): boolean {
    const keyBytes = key.reduce((sum, { length }) => sum + length, 0);
    let at = this.#begin(keyBytes, value.length);
    const keyAt = at;
    for (const part of [...key, value]) {
      this.#memory.set(part, at);
      at += part.length;
    }
    return this.#ended(keyAt, at);
  }

  put({ memory, keyAt, valueAt, end }: Entry): boolean {
    const at = this.#begin(valueAt - keyAt, end - valueAt);
    memory.copy(this.#memory, at, keyAt, end);
    return this.#ended(at, at + end - keyAt);
  }

  #begin(keyBytes: number, valueBytes: number): number {
    const end = this.#used + HEAD_BYTES + keyBytes + valueBytes;
    if (end > this.#memory.length) {
      const more = Buffer.allocUnsafe(Math.max(end, 2 * this.#memory.length));
      this.#memory.copy(more, 0, 0, this.#used);
      this.#memory = more;
    }
    this.#memory.writeUInt32LE(keyBytes, this.#used);
    this.#memory.writeUInt32LE(valueBytes, this.#used + 4);
    return this.#used + HEAD_BYTES;
  }

  #ended(keyAt: number, end: number): boolean {
    this.#sum?.addBytes(this.#memory, keyAt - HEAD_BYTES, end);
    this.#used = end;
    this.#entries++;
    return end >= WRITE_BYTES;
  }

  /** @throws IoError when writing fails */
  async flush(): Promise<void> {
    await writeFully(this.#handle, this.#memory.subarray(0, this.#used), this.#path);
    this.#bytes += this.#used;
    this.#used = 0;
  }

  /**
   * Completes the file.
   *
   * @throws IoError when writing fails
   */
  async end(): Promise<Run> {
    await this.flush();
    await this.#handle.close();
    return { path: this.#path, entries: this.#entries, bytes: this.#bytes, sum: this.#sum };
  }

  /** Closes the file, complete or not. */
  async leave(): Promise<void> {
    await this.#handle.close().catch(() => undefined);
  }
}

export class RunReader implements Entry {
  readonly run: Run;
  memory: Buffer;
  keyAt = 0;
  valueAt = 0;
  end = 0;
  /** The first eight bytes of the key, as two numbers. */
  high = 0;
  low = 0;
  readonly #handle: FileHandle;
  /** Bytes read from the file, and bytes in memory. */
  #read = 0;
  #filled = 0;

  private constructor(run: Run, handle: FileHandle, window: number) {
    this.run = run;
    this.#handle = handle;
    this.memory = Buffer.allocUnsafe(Math.max(HEAD_BYTES, Math.min(window, run.bytes)));
  }

  /**
   * @param window  bytes that are read at a time
   * @throws IoError when the file cannot be opened
   */
  static async open(run: Run, window: number): Promise<RunReader> {
    const handle = await open(run.path, 'r').catch((error) => {
      throw ioError('read', run.path, error);
    });
    return new RunReader(run, handle, window);
  }

  /** Moves to the next entry; returns false if it is not completely in memory. */
  advance(): boolean {
    const at = this.end;
    if (at + HEAD_BYTES > this.#filled) return false;
    const keyAt = at + HEAD_BYTES;
    const valueAt = keyAt + wordAt(this.memory, at);
    const end = valueAt + wordAt(this.memory, at + 4);
    if (end > this.#filled) return false;
    this.keyAt = keyAt;
    this.valueAt = valueAt;
    this.end = end;
    this.high = this.memory.readUInt32BE(keyAt);
    this.low = this.memory.readUInt32BE(keyAt + 4);
    return true;
  }

  /**
   * Reads more bytes and moves to the next entry; returns false at the end.
   *
   * @throws IoError when reading fails or the file is too short
   */
  async fill(): Promise<boolean> {
    const left = this.#filled - this.end;
    if (left === 0 && this.#read === this.run.bytes) return false;
    let wanted = HEAD_BYTES;
    if (left >= HEAD_BYTES) wanted += wordAt(this.memory, this.end) + wordAt(this.memory, this.end + 4);
    const memory = wanted > this.memory.length ? Buffer.allocUnsafe(2 * wanted) : this.memory;
    this.memory.copy(memory, 0, this.end, this.#filled);
    this.memory = memory;
    this.#filled = left;
    this.end = 0;
    const { bytesRead } = await this.#handle
      .read(memory, left, memory.length - left, this.#read)
      .catch((error) => {
        throw ioError('read', this.run.path, error);
      });
    if (bytesRead === 0) throw new IoError(`cannot read ${this.run.path}: it ends at byte ${this.#read}`);
    this.#read += bytesRead;
    this.#filled += bytesRead;
    return this.advance() || this.fill();
  }

  /** Returns whether the current key is less than that of another run. */
  isBefore(other: RunReader): boolean {
    if (this.high !== other.high) return this.high < other.high;
    if (this.low !== other.low) return this.low < other.low;
    const { memory, keyAt, valueAt } = this;
    return memory.compare(other.memory, other.keyAt, other.valueAt, keyAt, valueAt) < 0;
  }

  /** Closes and deletes the run. */
  async close(): Promise<void> {
    await this.#handle.close().catch(() => undefined);
    await rm(this.run.path, { force: true });
  }
}
