import { createHash } from 'node:crypto';
import { readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, readCacheFile, writeCacheFile } from '../../util/cache.js';
import type { DeviceInfo } from '../platform/platform.js';
import type { Quirks } from '../platform/quirks.js';

/**
 * Maximum number of files. Above it, the least recently used half is deleted. A file has tens of kilobytes, and all
 * tests on one driver compile more than a thousand programs.
 */
export const MAX_FILES = 4000;

/** Source and options that a program is compiled from. */
export interface ProgramText {
  readonly source: string;
  readonly options: string;
}

/**
 * Binaries of compiled programs on disk, for drivers that do not cache them.
 *
 * Some drivers abort the process for a binary that is damaged or from another driver, and every driver runs any
 * binary it is given. A file is used only if it names this platform, device, driver, version, source and options, and
 * if its seal shows that this user's clsort wrote it. Any other file is ignored and replaced.
 */
export class ProgramCache {
  readonly #device: readonly string[];

  private constructor({ platform, name, driver, version }: DeviceInfo) {
    this.#device = [platform, name, driver, version];
  }

  /**
   * Returns the cache of a device; undefined if its driver has its own. CLSORT_PROGRAM_CACHE `always` and `never`
   * override this.
   */
  static of(device: DeviceInfo, { cachesPrograms }: Quirks): ProgramCache | undefined {
    const wanted = process.env.CLSORT_PROGRAM_CACHE;
    const off = wanted === 'never' || (wanted !== 'always' && cachesPrograms);
    return off ? undefined : new ProgramCache(device);
  }

  #key({ source, options }: ProgramText): string {
    return createHash('sha256')
      .update(JSON.stringify([...this.#device, options, source]))
      .digest('hex');
  }

  #file(key: string): string {
    return `programs/${key.slice(0, 32)}.sealed`;
  }

  /**
   * Passes the cached binary to `use`, if there is a valid one. Meanwhile its file has another name, so that a binary
   * that crashes the process is not tried again. In a cache that cannot be written, the file keeps its name.
   *
   * @returns the result of `use`; undefined without a binary, or when the driver rejected it
   */
  async load<T>(text: ProgramText, use: (binary: Uint8Array) => Promise<T>): Promise<T | undefined> {
    const key = this.#key(text);
    const path = join(cacheFolder(), this.#file(key));
    const loadingPath = `${path}.loading`;
    const file = readCacheFile(this.#file(key));
    const binary = file && readBinary(file, key);
    if (!binary) return undefined;
    try {
      renameSync(path, loadingPath);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined; // another process is trying it
      return use(binary).catch(() => undefined);
    }
    const result = await use(binary).catch(() => undefined);
    try {
      if (result === undefined) rmSync(loadingPath, { force: true });
      else {
        utimesSync(loadingPath, new Date(), new Date());
        renameSync(loadingPath, path);
      }
    } catch {
      // Another process has the file, or has cleared the cache.
    }
    return result;
  }

  save(text: ProgramText, binary: Uint8Array): void {
    const key = this.#key(text);
    if (writeCacheFile(this.#file(key), Buffer.concat([Buffer.from(key), binary]))) removeUnused();
  }
}

/** Removes the least recently used files, such as those of removed drivers. */
function removeUnused(): void {
  const folder = join(cacheFolder(), 'programs');
  try {
    const files = readdirSync(folder);
    if (files.length <= MAX_FILES) return;
    const ages = files.map((file) => ({ file, used: statSync(join(folder, file)).mtimeMs }));
    const oldest = ages.toSorted((a, b) => a.used - b.used).slice(0, files.length - MAX_FILES / 2);
    for (const { file } of oldest) rmSync(join(folder, file), { force: true });
  } catch {
    // Another process is removing files.
  }
}

/** Returns the binary in a file if it belongs to this key. */
function readBinary(file: Uint8Array, key: string): Uint8Array | undefined {
  const binary = new Uint8Array(file.subarray(key.length)); // a copy, on an aligned address
  const hasKey = Buffer.from(file.subarray(0, key.length)).toString('latin1') === key;
  return hasKey && binary.length > 0 ? binary : undefined;
}
