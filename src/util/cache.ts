import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * Folder for what clsort may lose at any time: `CLSORT_CACHE_DIR`, else `clsort` in the cache folder of
 * the user's system.
 */
export function cacheFolder(): string {
  const { CLSORT_CACHE_DIR, XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  if (CLSORT_CACHE_DIR) return CLSORT_CACHE_DIR;
  if (XDG_CACHE_HOME) return join(XDG_CACHE_HOME, 'clsort');
  if (process.platform === 'win32' && LOCALAPPDATA) return join(LOCALAPPDATA, 'clsort', 'cache');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches', 'clsort');
  return join(homedir(), '.cache', 'clsort');
}

/** A JSON object on disk; anything unreadable counts as empty. */
export function readCache(file: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(join(cacheFolder(), file), 'utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/**
 * Adds entries to a JSON object on disk. Two writers at once may lose each other's entries: a cache can
 * stand that.
 *
 * @returns false where the folder cannot be written, which is no error for a cache
 */
export function addToCache(file: string, entries: Readonly<Record<string, unknown>>): boolean {
  return writeCacheFile(file, `${JSON.stringify({ ...readCache(file), ...entries }, null, 1)}\n`);
}

/**
 * Writes a file of the cache by making a new one and renaming it, so that a reader never sees half of one.
 *
 * @returns false where the folder cannot be written, which is no error for a cache
 */
export function writeCacheFile(file: string, contents: string | Uint8Array): boolean {
  const path = join(cacheFolder(), file);
  const aside = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(aside, contents);
    renameSync(aside, path);
    return true;
  } catch {
    rmSync(aside, { force: true });
    return false;
  }
}
