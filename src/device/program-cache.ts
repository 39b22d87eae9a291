import { createHash } from 'node:crypto';
import { readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, readCacheFile, writeCacheFile } from '../util/cache.js';
import type { DeviceInfo } from './platform.js';
import type { Quirks } from './quirks.js';

/**
 * Files kept; with one more, the half that was used longest ago is deleted. They have tens of kilobytes each, and all tests on one driver
 * compile more than a thousand programs.
 */
export const MAX_FILES = 4000;

/** What a program is compiled from. */
export interface ProgramText {
  readonly source: string;
  readonly options: string;
}

/**
 * Binaries of compiled programs on disk, for drivers that keep none themselves.
 *
 * Some drivers end the process when they are handed a binary that is damaged or another driver's, and every
 * driver runs what it is handed. So a file counts only if it names this platform, device, driver, source and
 * options, and this user's clsort has written it, which its seal tells. Anything else is ignored, and written
 * anew.
 */
export class ProgramCache {
  readonly #device: readonly string[];

  private constructor({ platform, name, driver, version }: DeviceInfo) {
    this.#device = [platform, name, driver, version];
  }

  /**
   * The cache of a device, unless its driver has its own. CLSORT_PROGRAM_CACHE `always` and `never` say
   * otherwise.
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
   * Lets `use` hand the binary to the driver, if there is one that is whole. Meanwhile its file has another
   * name: a binary that takes the process along all the same is not tried again.
   *
   * @returns undefined without a binary, or when the driver did not take it
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
    } catch {
      return undefined; // another process is trying it
    }
    const result = await use(binary).catch(() => undefined);
    try {
      if (result === undefined) rmSync(loadingPath, { force: true });
      else {
        utimesSync(loadingPath, new Date(), new Date());
        renameSync(loadingPath, path);
      }
    } catch {
      // Somebody else has the file, or has cleared the cache.
    }
    return result;
  }

  save(text: ProgramText, binary: Uint8Array): void {
    const key = this.#key(text);
    if (writeCacheFile(this.#file(key), Buffer.concat([Buffer.from(key), binary]))) removeUnused();
  }
}

/** Removes files of programs that were not used for long, such as those of drivers that are gone. */
function removeUnused(): void {
  const folder = join(cacheFolder(), 'programs');
  try {
    const files = readdirSync(folder);
    if (files.length <= MAX_FILES) return;
    const ages = files.map((file) => ({ file, used: statSync(join(folder, file)).mtimeMs }));
    const oldest = ages.toSorted((a, b) => a.used - b.used).slice(0, files.length - MAX_FILES / 2);
    for (const { file } of oldest) rmSync(join(folder, file), { force: true });
  } catch {
    // Somebody else is clearing up.
  }
}

/** The binary in a file, if it is that of this key. */
function readBinary(file: Uint8Array, key: string): Uint8Array | undefined {
  const binary = new Uint8Array(file.subarray(key.length)); // a copy, on an aligned address
  const hasKey = Buffer.from(file.subarray(0, key.length)).toString('latin1') === key;
  return hasKey && binary.length > 0 ? binary : undefined;
}
