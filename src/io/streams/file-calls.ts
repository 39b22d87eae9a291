/** Calls to the file system. */
import * as fs from 'node:fs';
import * as promises from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';

export interface OpenFile {
  readonly fd: number;
  read(bytes: Uint8Array, at: number, length: number, position: number): Promise<{ bytesRead: number }>;
  write(
    bytes: Uint8Array,
    at: number,
    length: number,
    position?: number | null,
  ): Promise<{ bytesWritten: number }>;
  stat(): Promise<fs.Stats>;
  sync(): Promise<void>;
  createReadStream(): Readable;
  close(): Promise<void>;
}

export interface FileCalls {
  access(path: string, mode: number): Promise<void>;
  chmod(path: string, mode: number): Promise<void>;
  lstat(path: string): Promise<fs.Stats>;
  open(path: string, flags: string | number, mode?: number): Promise<OpenFile>;
  readlink(path: string): Promise<string>;
  realpath(path: string): Promise<string>;
  rename(from: string, to: string): Promise<void>;
  stat(path: string): Promise<fs.Stats>;
  statfs(path: string): Promise<fs.StatsFs>;
}

/** Calls in the threads of Node. */
export const threadedCalls: FileCalls = promises;

/**
 * Calls in the thread of the caller, for small files of a process that does nothing else: passing a call to a thread takes
 * longer than reading such a file. Only waits for the storage are passed.
 */
export const blockingCalls: FileCalls = {
  access: async (path, mode) => fs.accessSync(path, mode),
  chmod: async (path, mode) => fs.chmodSync(path, mode),
  lstat: async (path) => fs.lstatSync(path),
  open: async (path, flags, mode) => new BlockingFile(fs.openSync(path, flags, mode)),
  readlink: async (path) => fs.readlinkSync(path),
  realpath: async (path) => fs.realpathSync(path),
  rename: async (from, to) => fs.renameSync(from, to),
  stat: async (path) => fs.statSync(path),
  statfs: async (path) => fs.statfsSync(path),
};

const sync = promisify(fs.fsync);

class BlockingFile implements OpenFile {
  readonly fd: number;
  #isOpen = true;

  constructor(fd: number) {
    this.fd = fd;
  }

  async read(bytes: Uint8Array, at: number, length: number, position: number) {
    return { bytesRead: fs.readSync(this.fd, bytes, at, length, position) };
  }

  async write(bytes: Uint8Array, at: number, length: number, position?: number | null) {
    return { bytesWritten: fs.writeSync(this.fd, bytes, at, length, position) };
  }

  async stat(): Promise<fs.Stats> {
    return fs.fstatSync(this.fd);
  }

  sync(): Promise<void> {
    return sync(this.fd);
  }

  createReadStream(): Readable {
    this.#isOpen = false;
    return fs.createReadStream('', { fd: this.fd });
  }

  /** Does nothing for a closed file, whose descriptor another file may have. */
  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    fs.closeSync(this.fd);
  }
}
