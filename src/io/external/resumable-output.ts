/** A file that is written in any order over several runs, and gets its final name when it is complete. */

import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, type FileHandle, open, realpath, rename, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncFile, syncFileData } from '../../util/sync-file.js';
import { syncFolder } from '../streams/folder.js';
import { ioError, writeFully } from '../streams/raw.js';
import { resolveTarget } from '../streams/resolve-target.js';

/** Returns the path of the unfinished file for `out`, in the folder of the resolved target. */
export const partPath = async (out: string, part: string): Promise<string> =>
  join(dirname(await realpath(out).catch(() => resolveTarget(out))), part);

export class ResumableOutput {
  readonly #name: string;
  readonly #target: string;
  readonly #path: string;
  readonly #handle: FileHandle;
  /** The pending or last sync, and the one that has not started yet. */
  #lastSync: Promise<void> = Promise.resolve();
  #nextSync: Promise<void> | undefined;

  private constructor(name: string, target: string, temporary: string, handle: FileHandle) {
    this.#name = name;
    this.#target = target;
    this.#path = temporary;
    this.#handle = handle;
  }

  /** Returns a new name for an unfinished file that will become `path`. */
  static partName(path: string): string {
    return `.${basename(path).slice(0, 40)}.clsort-${randomBytes(6).toString('hex')}.part`;
  }

  /** @throws IoError when the file cannot be created or replaced */
  static async assertWritable(path: string): Promise<void> {
    try {
      const target = await realpath(path).catch(() => resolveTarget(path));
      await access(dirname(target), constants.W_OK);
      if (await stat(target).catch(() => undefined)) await access(target, constants.W_OK); // rename needs no W_OK
    } catch (error) {
      throw ioError('write', path, error);
    }
  }

  /**
   * Opens the unfinished file of an output.
   *
   * @param path path of the output
   * @param part name of the unfinished file; created if it does not exist
   * @throws IoError when it cannot be written
   */
  static async open(path: string, part: string): Promise<ResumableOutput> {
    try {
      const target = await realpath(path).catch(() => resolveTarget(path));
      const existing = await stat(target).catch(() => undefined);
      const temporary = join(dirname(target), part);
      const handle = await open(temporary, 'r+').catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
        return open(temporary, 'wx+', existing === undefined ? 0o666 : existing.mode & 0o777);
      });
      if (existing) await chmod(temporary, existing.mode & 0o7777); // the umask must not change the mode
      return new ResumableOutput(path, target, temporary, handle);
    } catch (error) {
      throw ioError('write', path, error);
    }
  }

  write(position: number, bytes: Uint8Array): Promise<void> {
    return writeFully(this.#handle, bytes, this.#name, { position });
  }

  /** Makes earlier writes durable. Concurrent callers share one sync. */
  sync(): Promise<void> {
    if (this.#nextSync) return this.#nextSync;
    // A pending sync may have started before the last write.
    const next = this.#lastSync
      .catch(() => undefined)
      .then(() => {
        this.#nextSync = undefined;
        return syncFileData(this.#handle);
      })
      .catch((error) => {
        throw ioError('write', this.#name, error);
      });
    this.#nextSync = next;
    this.#lastSync = next;
    return next;
  }

  /** Truncates the file to `bytes` bytes and publishes it under its final name. */
  async commit(bytes: number): Promise<void> {
    try {
      await this.#handle.truncate(bytes);
      await syncFile(this.#handle);
      await this.#handle.close();
      await rename(this.#path, this.#target);
      await syncFolder(dirname(this.#target));
    } catch (error) {
      throw ioError('write', this.#name, error);
    }
  }

  /** Closes the unfinished file and keeps it for another run. */
  async keep(): Promise<void> {
    await this.#handle.close().catch(() => undefined);
  }
}
