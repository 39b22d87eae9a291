/**
 * Files that clsort may lose at any time, and that nobody but the user may have written: compiled programs
 * run as they are found, and certificates say what is trusted with data.
 *
 * The folder and its files belong to the user, and nobody else may write them. Besides, each file is sealed:
 * it begins with a keyed hash (HMAC-SHA256) over its name and contents, and the key is a file that only the
 * user can read. What was put there in any other way is as if it were not there.
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

/** Name of the key among the files of the cache, and its bytes. */
const KEY = 'key';
const KEY_BYTES = 32;

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** Links are not followed, and a pipe that somebody put there is not waited for. Windows has neither flag. */
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * Folder for what clsort may lose at any time: `CLSORT_CACHE_DIR`, else `clsort` in the cache folder of
 * the user's system; for a user without a home one of their own among the temporary files.
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
    return join(tmpdir(), `clsort-${process.geteuid?.()}`); // a user that the system does not know, without HOME
  }
}

/** A JSON object of the cache; anything else, and what is not sealed, counts as empty. */
export function readCache(file: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(String(readCacheFile(file)));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/**
 * Adds entries to a JSON object of the cache. Two writers at once may lose each other's entries: a cache can
 * stand that.
 *
 * @returns as `writeCacheFile`
 */
export function addToCache(file: string, entries: Readonly<Record<string, unknown>>): boolean {
  return writeCacheFile(file, `${JSON.stringify({ ...readCache(file), ...entries }, null, 1)}\n`);
}

/**
 * What `writeCacheFile` wrote under this name.
 *
 * @param file name in the cache, `/` between folders
 * @returns undefined when nothing is there, or nothing that this user's clsort has written
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
 * Writes a file of the cache by making a new one and renaming it, so that a reader never sees half of one.
 *
 * @param file name in the cache, `/` between folders
 * @returns false where the cache cannot be used, which is no error; `takeCacheWarning` tells why
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

/** Writes a new file beside `path`, and lets `put` bring it to its name. */
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
    // Whatever kept it from being removed has been told, or will be.
  }
}

/**
 * Makes a folder, and those above it that are missing, one by one: Node's own recursion never ends where a file
 * system says of a folder that exists that it does not, as /proc does.
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
 * Whether there is a folder.
 *
 * @throws CacheError when it is not the user's alone
 */
function isOwnFolder(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return false;
  if (stats.isSymbolicLink()) throw untrustedError(path, 'is a symbolic link');
  if (!stats.isDirectory()) throw untrustedError(path, 'is no folder');
  assertOwn(path, stats, OTHERS_WRITE);
  return true;
}

/** The contents of a file, undefined when there is none. @throws CacheError when it is not the user's alone */
function readOwnFile(path: string, forbidden: number): Buffer | undefined {
  let file: number;
  try {
    file = openSync(path, READ);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    if (codeOf(error) === 'ELOOP') throw untrustedError(path, 'is a symbolic link', 'remove it');
    throw error;
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw untrustedError(path, 'is no file', 'remove it');
    assertOwn(path, stats, forbidden);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** @throws CacheError for what another user owns, or may do more with than `forbidden` allows */
function assertOwn(path: string, stats: Stats, forbidden: number): void {
  const problem = ownershipProblem(path, stats, forbidden);
  if (problem) throw untrustedError(path, problem.what, problem.remedy);
}

/** The key of the seals; undefined when there is none that can be used. */
function readKey(folder: string): Buffer | undefined {
  try {
    const key = readOwnFile(join(folder, KEY), OTHERS_ALL);
    return key?.length === KEY_BYTES ? key : undefined;
  } catch (error) {
    recordWarning(error); // and what others may know, or have made, is replaced
    return undefined;
  }
}

/**
 * Makes a key instead of none, or of one that cannot be used. Of several processes that do so at once one wins:
 * a key has its name only when it is whole, and only where there is none.
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
  if (!key) throw untrustedError(path, 'cannot be kept', 'clear the folder');
  return key;
}

const MAGIC = 'clsort cache 1';

const sealOf = (file: string, contents: string | Uint8Array, key: Uint8Array): string =>
  createHmac('sha256', key).update(`${file}\0`).update(contents).digest('hex');

const headerOf = (file: string, contents: string | Uint8Array, key: Uint8Array): Buffer =>
  Buffer.from(`${MAGIC} ${sealOf(file, contents, key)}\n`);

/** What stands behind the seal, if the seal is that of this name, contents and key. */
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
  ENOENT: 'no folder can be made there',
  ENOSPC: 'no space is left on the device',
  ENOTDIR: 'a part of the path is no folder',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
};

function cacheWarning(
  why: string,
  { remedy, cause }: { remedy?: string | undefined; cause?: unknown },
): CacheError {
  const folder = cacheFolder();
  return new CacheError(
    `the cache is not used: ${why}. Sorts go on, but programs are compiled and tested anew in each process: ` +
      `${remedy ? `${remedy}, or ` : ''}set CLSORT_CACHE_DIR to a folder that only you can write`,
    { ...(cause !== undefined && { cause }), details: { folder } },
  );
}

/** Folders of which it is known that they cannot be used as they should, and what nobody was told yet. */
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

/** Why the cache could not be used, or not all of it: it is told once for each folder, to the code that warns the user. */
export function takeCacheWarning(): CacheError | undefined {
  const warning = pendingWarning;
  pendingWarning = undefined;
  return warning;
}
