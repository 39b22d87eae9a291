import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UnsupportedError } from './errors.js';
import { VERSION } from './version.js';

export { VERSION };

/**
 * Returns the file that holds this code: a file of the package, or a bundle.
 *
 * In a CommonJS bundle only `__filename` is set, and `import.meta` is empty. Webpack replaces `import.meta.url` with
 * the path at build time, and `typeof __filename` with 'string' even if there is none.
 */
function currentFile(): string {
  try {
    return __filename;
  } catch {
    const url: string | undefined = import.meta.url;
    const file = url?.startsWith('file:') ? fileURLToPath(url) : undefined;
    return file && existsSync(file) ? file : resolve(process.argv[1] ?? process.execPath);
  }
}

/** Returns the version of clsort whose package.json is in a folder; undefined if there is none. */
function versionIn(folder: string): string | undefined {
  const file = join(folder, 'package.json');
  if (!existsSync(file)) return undefined;
  try {
    const { name, version } = JSON.parse(readFileSync(file, 'utf8')) as { name?: string; version?: string };
    return name === 'clsort' ? version : undefined;
  } catch {
    return undefined; // the file of another package, since ours can be read
  }
}

/** Yields a folder and its parents, the nearest first. */
function* ancestors(folder: string): Generator<string> {
  yield folder;
  const parent = dirname(folder);
  if (parent !== folder) yield* ancestors(parent);
}

/**
 * Yields the folders where the package may be: `CLSORT_ROOT`, or else those around this code, each with its
 * node_modules.
 */
function* candidates(): Generator<string> {
  const chosen = process.env.CLSORT_ROOT;
  if (chosen) return yield resolve(chosen);
  for (const folder of ancestors(dirname(currentFile()))) {
    yield folder;
    yield join(folder, 'node_modules', 'clsort');
  }
}

let foundFolder: string | undefined;

/** Creates the error for missing files of the package: `cannot DO: CAUSE`, and the remedy. */
function missingFilesError(action: string, why: string | undefined, cause?: unknown): UnsupportedError {
  const isBundle = !foundFolder || !currentFile().startsWith(foundFolder + sep);
  const chosen = process.env.CLSORT_ROOT;
  const bundle = `this code runs from ${currentFile()}, which looks like a bundle without cl/ of clsort`;
  const advice = isBundle
    ? 'Leave clsort out of the bundle, or copy package.json and cl/ to node_modules/clsort beside it or to ' +
      `the folder of CLSORT_ROOT (${chosen ?? 'not set'}), as docs/bundlers.md describes`
    : `Install the package again in ${foundFolder}`;
  const causes = [...(why === undefined ? [] : [why]), ...(isBundle ? [bundle] : [])];
  return new UnsupportedError(`cannot ${action}: ${causes.join('; ')}. ${advice}`, {
    cause,
    details: { code: currentFile(), root: foundFolder ?? chosen },
  });
}

/**
 * Returns the folder that holds package.json, cl/ and the addons. For code in a bundle, it is the one that
 * CLSORT_ROOT names or that Node would find from the bundle.
 *
 * The search runs on first use, so that importing a bundle never fails because of it.
 *
 * @throws UnsupportedError when there is no such folder, or none of this version
 */
export function packageFolder(): string {
  if (foundFolder) return foundFolder;
  const others: string[] = [];
  for (const folder of candidates()) {
    const version = versionIn(folder);
    if (version === VERSION) {
      foundFolder = folder;
      return folder;
    }
    if (version !== undefined) others.push(`${folder} has clsort ${version}`);
  }
  const found = others.length > 0 ? others.join('; ') : undefined;
  throw missingFilesError(`find the files of clsort ${VERSION}`, found);
}

function readOfPackage<T>(path: readonly string[], read: (file: string) => T): T {
  const file = join(packageFolder(), ...path);
  try {
    return read(file);
  } catch (cause) {
    throw missingFilesError(`read ${file}`, (cause as Error).message, cause);
  }
}

/** Reads a text file of the package. @throws UnsupportedError when it cannot be read */
export const packageText = (...path: readonly string[]) =>
  readOfPackage(path, (file) => readFileSync(file, 'utf8'));

/** Returns the names in a folder of the package, in order. @throws UnsupportedError when it cannot be read */
export const packageNames = (...path: readonly string[]) =>
  readOfPackage(path, (folder) => readdirSync(folder).toSorted());

/**
 * Returns the file of a program for child processes: compiled in a checkout, bundled in an installed package.
 *
 * @param path of its module below dist/src
 * @throws UnsupportedError when the package's folder cannot be found
 */
export function programFile(path: string): string {
  const compiled = join(packageFolder(), 'dist', 'src', path);
  return existsSync(compiled) ? compiled : join(packageFolder(), 'dist', 'lib', path);
}
