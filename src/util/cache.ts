/**
 * A cache of files that may be lost at any time, and that only the user may have written: compiled programs are
 * executed, and self-test records decide which algorithms process data.
 *
 * The folder and its files belong to the user, and no other user may write them. In addition, each file is sealed: it
 * begins with a keyed hash (HMAC-SHA256) over its name and contents, and only the user can read the file with the
 * key. Any other file is treated as missing.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { CacheError } from './errors.js';
import { OTHERS_ALL, OTHERS_WRITE, ownershipProblem } from './file-ownership.js';
import { homeFolder } from './home.js';

/** Name of the key file in the cache, and its size. */
const KEY = 'key';
const KEY_BYTES = 32;

/** Only the user may read the cache and write to it. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** Symbolic links are not followed, and opening a named pipe does not block. Windows has neither flag. */
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * Returns the cache folder: `CLSORT_CACHE_DIR`, else `clsort` in the cache folder of the user's system. A user
 * without a home folder gets a folder among the temporary files.
 */
export function cacheFolder(): string {
  const { CLSORT_CACHE_DIR, XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  if (CLSORT_CACHE_DIR) return resolve(CLSORT_CACHE_DIR);
  if (XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME)) return join(XDG_CACHE_HOME, 'clsort');
  if (process.platform === 'win32' && LOCALAPPDATA) return join(LOCALAPPDATA, 'clsort', 'cache');
  try {
    const home = homeFolder();
    return process.platform === 'darwin'
      ? join(home, 'Library', 'Caches', 'clsort')
      : join(home, '.cache', 'clsort');
  } catch {
    return join(tmpdir(), `clsort-${process.geteuid?.()}`); // HOME is not set, and the system does not know the user
  }
}

/** Reads a JSON object of the cache. A missing, invalid or unsealed file gives an empty object. */
export function readCache(file: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(String(readCacheFile(file)));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/**
 * Adds entries to a JSON object of the cache. Concurrent writers may lose each other's entries, which a cache
 * tolerates.
 *
 * @returns as `writeCacheFile`
 */
export function addToCache(file: string, entries: Readonly<Record<string, unknown>>): boolean {
  return writeCacheFile(file, `${JSON.stringify({ ...readCache(file), ...entries }, null, 1)}\n`);
}

/**
 * Reads a file that `writeCacheFile` wrote.
 *
 * @param file name in the cache, with `/` between folders
 * @returns undefined if the file is missing or was not written by this user's clsort
 */
export function readCacheFile(file: string): Buffer | undefined {
  try {
    const folder = cacheFolder();
    if (!isOwnFolder(folder) || !isOwnFolder(dirname(join(folder, file)))) return undefined;
    const sealed = readOwnFile(join(folder, file), OTHERS_WRITE);
    const key = sealed && readKey(folder);
    return key && contentsOf(sealed, file, key);
  } catch (error) {
    recordWarning(error);
    return undefined;
  }
}

/**
 * Writes a file of the cache through a temporary file that is renamed, so that readers never see a partial file.
 *
 * @param file name in the cache, with `/` between folders
 * @returns false if the cache cannot be used, which is not an error; `takeCacheWarning` returns the reason
 */
export function writeCacheFile(file: string, contents: string | Uint8Array): boolean {
  try {
    const folder = cacheFolder();
    const path = join(folder, file);
    for (const one of new Set([folder, dirname(path)])) {
      makeFolder(one);
      isOwnFolder(one);
    }
    const key = readKey(folder) ?? makeKey(folder);
    withTemporaryFile(
      path,
      Buffer.concat([headerOf(file, contents, key), Buffer.from(contents)]),
      renameSync,
    );
    return true;
  } catch (error) {
    recordWarning(error);
    return false;
  }
}

/** Writes a temporary file beside `path`, which `publish` moves or links to its name. */
function withTemporaryFile(
  path: string,
  contents: Uint8Array,
  publish: (temporaryPath: string, path: string) => void,
): void {
  const temporaryPath = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    writeFileSync(temporaryPath, contents, { flag: 'wx', mode: FILE_MODE });
    publish(temporaryPath, path);
  } finally {
    removeQuietly(temporaryPath);
  }
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The cause is reported where it affects the cache.
  }
}

/**
 * Creates a folder and its missing parents one by one. Node's own recursion never ends if a file system reports an
 * existing folder as missing, as /proc does.
 */
function makeFolder(path: string): void {
  const missing: string[] = [];
  for (let at = path; !statSync(at, { throwIfNoEntry: false }) && dirname(at) !== at; at = dirname(at)) {
    missing.push(at);
  }
  for (const folder of missing.toReversed()) {
    try {
      mkdirSync(folder, { mode: FOLDER_MODE });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error; // another process was first
    }
  }
}

/**
 * Returns whether a folder exists.
 *
 * @throws CacheError when it is not a folder of the user, or others can write it
 */
function isOwnFolder(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return false;
  if (stats.isSymbolicLink()) throw untrustedError(path, 'is a symbolic link');
  if (!stats.isDirectory()) throw untrustedError(path, 'is not a folder');
  assertOwn(path, stats, OTHERS_WRITE);
  return true;
}

/**
 * Reads a file; returns undefined if it is missing.
 *
 * @throws CacheError when it is not a regular file of the user, or its mode has a bit of `forbidden`
 */
function readOwnFile(path: string, forbidden: number): Buffer | undefined {
  let file: number;
  try {
    file = openSync(path, READ);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    if (codeOf(error) === 'ELOOP') throw untrustedError(path, 'is a symbolic link', 'Remove it');
    throw error;
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw untrustedError(path, 'is not a regular file', 'Remove it');
    assertOwn(path, stats, forbidden);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** @throws CacheError when another user owns the file, or its mode has a bit of `forbidden` */
function assertOwn(path: string, stats: Stats, forbidden: number): void {
  const problem = ownershipProblem(path, stats, forbidden);
  if (problem) throw untrustedError(path, problem.what, problem.remedy);
}

/** Reads the key of the seals; undefined if it is missing or cannot be used. */
function readKey(folder: string): Buffer | undefined {
  try {
    const key = readOwnFile(join(folder, KEY), OTHERS_ALL);
    return key?.length === KEY_BYTES ? key : undefined;
  } catch (error) {
    recordWarning(error); // a key that others can read or have written is replaced
    return undefined;
  }
}

/**
 * Creates the key, and replaces one that cannot be used. If several processes do so at once, one wins: a key gets its
 * name only when it is complete, and only if there is none.
 */
function makeKey(folder: string): Buffer {
  const path = join(folder, KEY);
  if (lstatSync(path, { throwIfNoEntry: false }) && !readKey(folder)) rmSync(path, { recursive: true });
  try {
    withTemporaryFile(path, randomBytes(KEY_BYTES), linkSync);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
  const key = readKey(folder);
  if (!key) throw untrustedError(path, 'cannot be stored', 'Clear the folder');
  return key;
}

const MAGIC = 'clsort cache 1';

const sealOf = (file: string, contents: string | Uint8Array, key: Uint8Array): string =>
  createHmac('sha256', key).update(`${file}\0`).update(contents).digest('hex');

const headerOf = (file: string, contents: string | Uint8Array, key: Uint8Array): Buffer =>
  Buffer.from(`${MAGIC} ${sealOf(file, contents, key)}\n`);

/** Returns the contents after the seal, if the seal matches this name, contents and key. */
function contentsOf(sealed: Buffer, file: string, key: Uint8Array): Buffer | undefined {
  const end = sealed.indexOf('\n') + 1;
  const contents = sealed.subarray(end);
  const [found, expected] = [sealed.subarray(0, end), headerOf(file, contents, key)];
  return found.length === expected.length && timingSafeEqual(found, expected) ? contents : undefined;
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

const untrustedError = (path: string, what: string, remedy?: string): CacheError =>
  cacheWarning(`${path} ${what}`, { remedy });

const ERROR_MESSAGES: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EDQUOT: 'the quota is used up',
  ENOENT: 'the folder cannot be created',
  ENOSPC: 'no space is left on the device',
  ENOTDIR: 'a part of the path is not a folder',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
};

function cacheWarning(
  why: string,
  { remedy, cause }: { remedy?: string | undefined; cause?: unknown },
): CacheError {
  const folder = cacheFolder();
  return new CacheError(
    `cannot use the cache: ${why}, so each process compiles and tests its programs anew. ` +
      `${remedy ? `${remedy}, or set` : 'Set'} CLSORT_CACHE_DIR to a folder that only you can write`,
    { ...(cause !== undefined && { cause }), details: { folder } },
  );
}

/** Folders whose problem is known, and the warning that was not reported yet. */
const warnedFolders = new Set<string>();
let pendingWarning: CacheError | undefined;

function recordWarning(error: unknown): void {
  const folder = cacheFolder();
  if (warnedFolders.has(folder)) return;
  warnedFolders.add(folder);
  const message = ERROR_MESSAGES[codeOf(error)] ?? (error instanceof Error ? error.message : String(error));
  pendingWarning =
    error instanceof CacheError ? error : cacheWarning(`${folder}: ${message}`, { cause: error });
}

/** Returns why the cache could not be used completely, once per folder, for the code that warns the user. */
export function takeCacheWarning(): CacheError | undefined {
  const warning = pendingWarning;
  pendingWarning = undefined;
  return warning;
}
