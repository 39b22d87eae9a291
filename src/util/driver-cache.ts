/**
 * A cache folder for PoCL. It keeps compiled kernels below the home of the user, and without a folder that it can write
 * it offers no device. Service users often have no home that they can write.
 */
import { accessSync, constants, lstatSync, mkdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { OTHERS_WRITE, ownershipProblem } from './file-ownership.js';

/** Where PoCL keeps its kernels; undefined where that does not depend on the user. */
function defaultFolder({ POCL_CACHE_DIR, XDG_CACHE_HOME, HOME }: NodeJS.ProcessEnv): string | undefined {
  if (POCL_CACHE_DIR) return POCL_CACHE_DIR;
  if (XDG_CACHE_HOME) return join(XDG_CACHE_HOME, 'pocl', 'kcache');
  return HOME ? join(HOME, '.cache', 'pocl', 'kcache') : undefined;
}

/** Can a folder be written, or made where it is missing? */
function isWritable(folder: string): boolean {
  let at = folder;
  while (!statSync(at, { throwIfNoEntry: false }) && dirname(at) !== at) at = dirname(at);
  try {
    accessSync(at, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The folder that PoCL cannot write; undefined where all is well. */
function unwritableFolder(env: NodeJS.ProcessEnv): string | undefined {
  if (process.platform === 'win32') return undefined;
  const folder = defaultFolder(env);
  try {
    return folder === undefined || isWritable(folder) ? undefined : folder;
  } catch {
    return folder; // a part of the path is no folder
  }
}

/**
 * Sets `POCL_CACHE_DIR` to a private folder among the temporary files where PoCL could not write its own. A driver sees
 * only what the main thread sets, and only before it is loaded.
 */
export function provideDriverCache(): void {
  if (process.env.POCL_CACHE_DIR === '') delete process.env.POCL_CACHE_DIR; // PoCL ends the process for an empty one
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

/** Why PoCL may offer no device, as a sentence with a space before it; empty where its folder can be written. */
export function driverCacheHint(env: NodeJS.ProcessEnv = process.env): string {
  const folder = unwritableFolder(env);
  return folder === undefined
    ? ''
    : ` PoCL offers no device where it cannot write its cache (${folder}): set POCL_CACHE_DIR to a folder that you can write.`;
}
