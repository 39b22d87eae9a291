/**
 * A cache folder for PoCL. It stores compiled kernels below the user's home, and without a writable folder it offers
 * no device. Service users often have no writable home.
 */
import { accessSync, constants, lstatSync, mkdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { OTHERS_WRITE, ownershipProblem } from './file-ownership.js';

/** Returns where PoCL stores its kernels; undefined if that does not depend on the user. */
function defaultFolder({ POCL_CACHE_DIR, XDG_CACHE_HOME, HOME }: NodeJS.ProcessEnv): string | undefined {
  if (POCL_CACHE_DIR) return POCL_CACHE_DIR;
  if (XDG_CACHE_HOME) return join(XDG_CACHE_HOME, 'pocl', 'kcache');
  return HOME ? join(HOME, '.cache', 'pocl', 'kcache') : undefined;
}

/** Whether a folder is writable, or can be created. */
export function isWritable(folder: string): boolean {
  let at = folder;
  while (!statSync(at, { throwIfNoEntry: false }) && dirname(at) !== at) at = dirname(at);
  try {
    accessSync(at, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns the folder that PoCL cannot write; undefined if it can. */
function unwritableFolder(env: NodeJS.ProcessEnv): string | undefined {
  if (process.platform === 'win32') return undefined;
  const folder = defaultFolder(env);
  try {
    return folder === undefined || isWritable(folder) ? undefined : folder;
  } catch {
    return folder; // a part of the path is not a folder
  }
}

/**
 * Sets `POCL_CACHE_DIR` to a private temporary folder if PoCL cannot write its own. A driver sees only variables that
 * the main thread sets before the driver is loaded.
 */
export function provideDriverCache(): void {
  if (process.env.POCL_CACHE_DIR === '') delete process.env.POCL_CACHE_DIR; // PoCL aborts on an empty one
  if (process.env.POCL_CACHE_DIR !== undefined || unwritableFolder(process.env) === undefined) return;
  const folder = join(tmpdir(), `clsort-pocl-${process.geteuid?.()}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const stats = lstatSync(folder);
    if (!stats.isDirectory() || ownershipProblem(folder, stats, OTHERS_WRITE)) return;
    process.env.POCL_CACHE_DIR = folder;
  } catch {
    // Without any folder there is no device, and the error names the cause.
  }
}

/** Returns why PoCL may offer no device, as a sentence after a space; empty if its folder is writable. */
export function driverCacheHint(env: NodeJS.ProcessEnv = process.env): string {
  const folder = unwritableFolder(env);
  return folder === undefined
    ? ''
    : ` PoCL offers no device where it cannot write its cache (${folder}): set POCL_CACHE_DIR to a folder that you can write.`;
}
