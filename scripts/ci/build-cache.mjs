// Caches addons between runs of CI, one file per hash of the inputs. Active only when CLSORT_BUILD_CACHE names the
// folder; otherwise addons are always built.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Returns the version text of the compiler. */
const compiler = () => execFileSync(process.env.CXX ?? 'g++', ['--version'], { encoding: 'utf8' });

/**
 * Builds an addon unless the cache has one of the same inputs.
 *
 * @param {string} file path of the addon that `build` creates
 * @param {string[]} inputs everything that the addon depends on beside Node and the compiler: a hash of the sources,
 *   flags
 */
export function buildOnce(file, inputs, build) {
  const folder = process.env.CLSORT_BUILD_CACHE;
  if (!folder) return build();
  const facts = [process.version, process.arch, compiler(), ...inputs];
  const hash = createHash('sha256').update(JSON.stringify(facts)).digest('hex');
  const kept = join(folder, `${hash.slice(0, 32)}.node`);
  mkdirSync(dirname(file), { recursive: true });
  if (existsSync(kept)) {
    copyFileSync(kept, file);
    return;
  }
  build();
  mkdirSync(folder, { recursive: true });
  copyFileSync(file, `${kept}.${process.pid}`);
  renameSync(`${kept}.${process.pid}`, kept);
}
