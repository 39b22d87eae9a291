/** Where partitions are kept between the pass that fills them and the one that sorts them. */
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { IoError } from '../../util/errors.js';
import { ioError } from '../raw.js';

/** Partitions by name, as bytes. */
export interface Spill {
  /** Bytes of `from` belong at `position` of a partition, which they reach or follow; they are not used afterwards. */
  write(partition: string, position: number, from: Uint8Array): Promise<void>;
  /**
   * New memory that units are placed in, of which the spill keeps what is written from it; left out by one that writes
   * elsewhere.
   */
  allocate?(bytes: number): Uint8Array;
  /** Fills `into` with what stands from `position` on. */
  read(partition: string, position: number, into: Uint8Array): Promise<void>;
  /** All of a partition is written, or read. */
  leave(partition: string): Promise<void>;
  /** Makes what was written last through a power failure. */
  sync(partitions: readonly string[]): Promise<void>;
  drop(partition: string): Promise<void>;
}

/** Partitions as files of a folder. */
export class FileSpill implements Spill {
  readonly #folder: string;
  readonly #open = new Map<string, Promise<FileHandle>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  async write(partition: string, position: number, from: Uint8Array): Promise<void> {
    const path = this.#path(partition);
    try {
      const handle = await this.#handle(partition);
      for (let at = 0; at < from.length; ) {
        at += (await handle.write(from, at, from.length - at, position + at)).bytesWritten;
      }
    } catch (error) {
      throw ioError('write', path, error);
    }
  }

  async read(partition: string, position: number, into: Uint8Array): Promise<void> {
    const path = this.#path(partition);
    try {
      const handle = await this.#handle(partition);
      await readFully(handle, into, position, path);
    } catch (error) {
      throw ioError('read', path, error);
    }
  }

  async leave(partition: string): Promise<void> {
    const handle = this.#open.get(partition);
    this.#open.delete(partition);
    await (await handle)?.close();
  }

  async sync(partitions: readonly string[]): Promise<void> {
    for (const partition of partitions) {
      // By a handle of its own: the partition may be left, or dropped, meanwhile.
      const handle = await open(this.#path(partition), 'r').catch(() => undefined);
      await handle?.datasync().finally(() => handle.close());
    }
  }

  async drop(partition: string): Promise<void> {
    await this.leave(partition);
    await rm(this.#path(partition), { force: true });
  }

  /** Closes what is open, and leaves the files. */
  async close(): Promise<void> {
    for (const partition of [...this.#open.keys()]) await this.leave(partition).catch(() => undefined);
  }

  #path(partition: string): string {
    return join(this.#folder, `partition-${partition}`);
  }

  #handle(partition: string): Promise<FileHandle> {
    let handle = this.#open.get(partition);
    if (!handle) {
      const path = this.#path(partition);
      handle = open(path, 'r+').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return open(path, 'w+');
        throw error;
      });
      handle.catch(() => this.#open.delete(partition));
      this.#open.set(partition, handle);
    }
    return handle;
  }
}

/** Fills `into` from a file. @throws IoError when the file ends before */
export async function readFully(
  handle: FileHandle,
  into: Uint8Array,
  position: number,
  name: string,
): Promise<void> {
  for (let at = 0; at < into.length; ) {
    const { bytesRead } = await handle.read(into, at, into.length - at, position + at);
    if (bytesRead === 0) throw new IoError(`cannot read ${name}: it ends at byte ${position + at}`);
    at += bytesRead;
  }
}

/**
 * Partitions in memory: what fits there goes the same way as what does not. Units stay where they were placed, whose pages are so made by
 * the threads that place them; that memory goes when all partitions that have some of it are dropped.
 */
export class MemorySpill implements Spill {
  /** Memory that is the spill's own. */
  readonly #buffers = new WeakSet<ArrayBufferLike>();
  readonly #pieces = new Map<string, { readonly position: number; readonly bytes: Uint8Array }[]>();

  async write(partition: string, position: number, from: Uint8Array): Promise<void> {
    const pieces = this.#pieces.get(partition) ?? [];
    this.#pieces.set(partition, pieces);
    pieces.push({ position, bytes: this.#buffers.has(from.buffer) ? from : from.slice() });
  }

  allocate(bytes: number): Uint8Array {
    const buffer = new Uint8Array(bytes);
    this.#buffers.add(buffer.buffer);
    return buffer;
  }

  async read(partition: string, position: number, into: Uint8Array): Promise<void> {
    for (const piece of this.#pieces.get(partition) ?? []) {
      const begin = Math.max(position, piece.position);
      const end = Math.min(position + into.length, piece.position + piece.bytes.length);
      if (begin >= end) continue;
      into.set(piece.bytes.subarray(begin - piece.position, end - piece.position), begin - position);
    }
  }

  async leave(): Promise<void> {}

  async sync(): Promise<void> {}

  async drop(partition: string): Promise<void> {
    this.#pieces.delete(partition);
  }
}
