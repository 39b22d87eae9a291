/**
 * Cache folders of tests. `npm test` names a shared folder in CLSORT_TEST_CACHE, with the programs and self-test
 * records of earlier runs with the same kernels and drivers. Each test process works on a private copy, so that tests
 * stay isolated, and adds new files when it ends.
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Subfolders of a cache whose files are written once and never changed. */
const SHARED_FOLDERS = ['self-tests', 'programs'];
/** The key file that seals the others: files of one cache are valid in another only with the same key. */
const KEY = 'key';

const shared = (): string | undefined => process.env.CLSORT_TEST_CACHE || undefined;

/** Returns the names of the files that are complete. Others are being written, and will have another name. */
const sealedIn = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.sealed')) : [];

/** Copies the files of `names` that `to` lacks. Readers never see a partial file. */
function copyMissing(from: string, to: string, names: readonly string[]): void {
  const missing = names.filter((name) => !existsSync(join(to, name)));
  if (missing.length === 0) return;
  mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const name of missing) {
    const temporary = join(to, `${name}.${process.pid}`);
    copyFileSync(join(from, name), temporary);
    renameSync(temporary, join(to, name));
  }
}

/**
 * A cache folder that starts with the shared records and programs, for child processes that need a separate cache.
 * Without a shared folder it starts empty.
 *
 * @param folder path of the new cache
 * @returns `folder`
 */
export function seededCache(folder: string): string {
  const from = shared();
  if (!from || !existsSync(join(from, KEY))) return folder;
  copyMissing(from, folder, [KEY]);
  // PoCL caches its programs itself, so that tests on PoCL alone need none of these.
  const needed = SHARED_FOLDERS.filter((name) => name !== 'programs' || process.env.CLSORT_TEST_DEVICES);
  for (const name of needed) copyMissing(join(from, name), join(folder, name), sealedIn(join(from, name)));
  return folder;
}

/** Adds the new files of a `seededCache` to the shared folder. */
export function shareCache(folder: string): void {
  const to = shared();
  if (!to || !existsSync(join(folder, KEY))) return;
  copyMissing(folder, to, [KEY]);
  for (const subfolder of SHARED_FOLDERS) {
    copyMissing(join(folder, subfolder), join(to, subfolder), sealedIn(join(folder, subfolder)));
  }
}

/** Gives this process a private cache until it ends; without a shared folder the cache stays the user's. */
export function useOwnCache(): void {
  if (!shared()) return;
  const own = seededCache(mkdtempSync(join(tmpdir(), 'clsort-test-cache-')));
  process.env.CLSORT_CACHE_DIR = own;
  process.on('exit', () => {
    shareCache(own);
    rmSync(own, { recursive: true, force: true });
  });
}
