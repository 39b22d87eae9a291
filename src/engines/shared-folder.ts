/**
 * The folder that all workers share. File names are relative to it, so that each host may mount it elsewhere. Nothing
 * outside it is read or written, wherever links lead.
 */
import { lstat, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, posix, relative, resolve, sep } from 'node:path';
import { ioError } from '../io/streams/raw.js';
import { IoError, UsageError } from '../util/errors.js';
import { formatValue } from '../util/format-value.js';

export class SharedFolder {
  /** Real path of the folder. */
  readonly root: string;

  private constructor(root: string) {
    this.root = root;
  }

  /** @throws IoError when the folder does not exist */
  static async open(path: string): Promise<SharedFolder> {
    const root = await realpath(path).catch((error) => {
      throw ioError('read', path, error);
    });
    if ((await stat(root)).isDirectory()) return new SharedFolder(root);
    throw new IoError(`cannot share ${path} with workers: it is not a folder`, { details: { path } });
  }

  /**
   * Returns the name of an existing or future file relative to the shared folder.
   *
   * @throws UsageError when it is not inside the shared folder
   */
  async nameOf(path: string): Promise<string> {
    const parent = await realpath(dirname(resolve(path))).catch((error) => {
      throw ioError('read', path, error);
    });
    const link = await lstat(path).catch(() => undefined);
    const found = link?.isSymbolicLink() ? await realpath(path) : join(parent, basename(path));
    if (!this.#has(found)) {
      throw new UsageError(
        `cannot share ${path} with workers: it is not in ${this.root}. Pass a folder that contains it with ` +
          '--workers-folder',
        { details: { path, folder: this.root } },
      );
    }
    return relative(this.root, found).split(sep).join(posix.sep);
  }

  /**
   * Returns the path of an existing file.
   *
   * @throws UsageError when the name leads out of the shared folder
   * @throws IoError when the file does not exist
   */
  async existing(name: string): Promise<string> {
    const path = this.#plain(name);
    const found = await realpath(path).catch((error) => {
      throw ioError('read', path, error);
    });
    if (!this.#has(found)) throw this.#outside(name);
    return found;
  }

  /**
   * Returns the path for a file in an existing folder.
   *
   * @throws UsageError when the name leads out of the shared folder
   * @throws IoError when its folder does not exist
   */
  async target(name: string): Promise<string> {
    const path = this.#plain(name);
    const parent = await realpath(dirname(path)).catch((error) => {
      throw ioError('write', path, error);
    });
    if (parent !== this.root && !this.#has(parent)) throw this.#outside(name);
    const target = join(parent, basename(path));
    if (!(await lstat(target).catch(() => undefined))?.isSymbolicLink()) return target;
    // A dangling link would create the file outside.
    const found = await realpath(target).catch(() => undefined);
    if (found === undefined || !this.#has(found)) throw this.#outside(name);
    return found;
  }

  #plain(name: string): string {
    const path = join(this.root, name);
    const isWrong = typeof name !== 'string' || name === '' || name.includes('\0') || isAbsolute(name);
    if (isWrong || !this.#has(path)) throw this.#outside(name);
    return path;
  }

  #has(path: string): boolean {
    const from = relative(this.root, path);
    return from !== '' && from !== '..' && !from.startsWith(`..${sep}`) && !isAbsolute(from);
  }

  #outside(name: unknown): UsageError {
    return new UsageError(
      `cannot open ${formatValue(name)}, a file of the job: it is not in the shared folder ${this.root}`,
      { details: { name, folder: this.root } },
    );
  }
}
