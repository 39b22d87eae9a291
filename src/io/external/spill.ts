/** Storage of partitions between the pass that fills them and the one that sorts them. */

import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { IoError } from '../../util/errors.js';
import { syncFileData } from '../../util/sync-file.js';
import { ioError, writeFully } from '../streams/raw.js';

/** Partitions by name, as bytes. */
export interface Spill {
  /** Writes bytes at or up to the end of a partition; the caller does not use `from` afterwards. */
  write(partition: string, position: number, from: Uint8Array): Promise<void>;
  /**
   * Allocates memory for placed records, which the spill keeps after `write`. Not defined when the spill writes to
   * files.
   */
  allocate?(bytes: number): Uint8Array;
  /** Fills `into` from `position` on. */
  read(partition: string, position: number, into: Uint8Array): Promise<void>;
  /** Closes a partition after its last write or read. */
  leave(partition: string): Promise<void>;
  /** Makes earlier writes durable. */
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
      await writeFully(await this.#handle(partition), from, path, { position });
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
      // Uses a separate handle, since the partition may be closed or removed meanwhile.
      const handle = await open(this.#path(partition), 'r').catch(() => undefined);
      if (handle) await syncFileData(handle).finally(() => handle.close());
    }
  }

  async drop(partition: string): Promise<void> {
    await this.leave(partition);
    await rm(this.#path(partition), { force: true });
  }

  /** Closes all open files and keeps them. */
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

/**
 * Fills `into` from a file.
 *
 * @throws IoError when the file ends early
 */
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
 * Partitions in memory. Records stay in the memory where they were placed, so that the placing threads map its pages.
 * The memory is freed when all partitions that use it are dropped.
 */
export class MemorySpill implements Spill {
  /** Memory allocated by the spill. */
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
