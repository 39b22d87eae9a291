/** A file that is written in parts, in any order, over several runs, and seen under its name when it is whole. */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, type FileHandle, open, realpath, rename, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncFolder } from '../output.js';
import { ioError } from '../raw.js';
import { resolveTarget } from '../resolve-target.js';

/** Where a file is that is to become `out`: in the folder of what that name stands for. */
export const partPath = async (out: string, part: string): Promise<string> =>
  join(dirname(await realpath(out).catch(() => resolveTarget(out))), part);

export class ResumableOutput {
  readonly #name: string;
  readonly #target: string;
  readonly #path: string;
  readonly #handle: FileHandle;
  /** The sync that is under way, or was the last one, and the one that is still to begin. */
  #lastSync: Promise<void> = Promise.resolve();
  #nextSync: Promise<void> | undefined;

  private constructor(name: string, target: string, temporary: string, handle: FileHandle) {
    this.#name = name;
    this.#target = target;
    this.#path = temporary;
    this.#handle = handle;
  }

  /** A new name for what is to become `path`. */
  static partName(path: string): string {
    return `.${basename(path).slice(0, 40)}.clsort-${randomBytes(6).toString('hex')}.part`;
  }

  /** @throws IoError when a file of that name cannot be made, or replaced */
  static async assertWritable(path: string): Promise<void> {
    try {
      const target = await realpath(path).catch(() => resolveTarget(path));
      await access(dirname(target), constants.W_OK);
      if (await stat(target).catch(() => undefined)) await access(target, constants.W_OK); // a rename would not ask
    } catch (error) {
      throw ioError('write', path, error);
    }
  }

  /**
   * @param part  name of the file as long as it is not whole; it is made if there is none
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
      if (existing) await chmod(temporary, existing.mode & 0o7777); // the umask does not apply to what was there
      return new ResumableOutput(path, target, temporary, handle);
    } catch (error) {
      throw ioError('write', path, error);
    }
  }

  async write(position: number, bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const { bytesWritten } = await this.#handle
        .write(bytes, at, Math.min(bytes.length - at, 2 ** 30), position + at)
        .catch((error) => {
          throw ioError('write', this.#name, error);
        });
      at += bytesWritten;
    }
  }

  /** Makes what was written so far last through a power failure; one time on the disk does for all who wait for it. */
  sync(): Promise<void> {
    if (this.#nextSync) return this.#nextSync;
    // One that is under way may have begun before what was written last.
    const next = this.#lastSync
      .catch(() => undefined)
      .then(() => {
        this.#nextSync = undefined;
        return this.#handle.datasync();
      })
      .catch((error) => {
        throw ioError('write', this.#name, error);
      });
    this.#nextSync = next;
    this.#lastSync = next;
    return next;
  }

  /** Puts all of it in its place: so many bytes. */
  async commit(bytes: number): Promise<void> {
    try {
      await this.#handle.truncate(bytes);
      await this.#handle.sync();
      await this.#handle.close();
      await rename(this.#path, this.#target);
      await syncFolder(dirname(this.#target));
    } catch (error) {
      throw ioError('write', this.#name, error);
    }
  }

  /** Leaves what was written, for another run. */
  async keep(): Promise<void> {
    await this.#handle.close().catch(() => undefined);
  }
}
