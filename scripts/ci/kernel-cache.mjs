// Caches compiled kernels and self-test records between runs, outside the tree, in one folder per key. A run works on a
// copy below .setup, which becomes the folder of the key when the run ends.

import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Maximum number of keys; the least recently used folder is removed first. */
const MAX_KEYS = 4;

/** Returns the folder of all caches between runs: CLSORT_CI_CACHE, or `clsort-ci` in the user's cache folder. */
export function cacheHome() {
  const { CLSORT_CI_CACHE, XDG_CACHE_HOME } = process.env;
  return CLSORT_CI_CACHE || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'clsort-ci');
}

const filesBelow = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .toSorted();

/**
 * Returns the TypeScript files that determine the build options of programs: they, or their imports, define the macros.
 */
export function buildOptionSources(folder = join(root, 'src')) {
  const isBuilder = (file) =>
    /\.program\(|\b(?:buildFittedProgram|GroupSums\.create)\(/.test(readFileSync(file, 'utf8'));
  const layers = ['algorithms', 'device', 'keys', 'lab', 'primitives'].map((name) => join(folder, name));
  return filesBelow(folder)
    .filter((file) => file.endsWith('.ts'))
    .filter((file) => layers.some((layer) => file.startsWith(layer)) || isBuilder(file));
}

/** Returns the versions of the installed packages of OpenCL drivers; empty without dpkg. */
function driverPackages() {
  try {
    const listed = execFileSync('dpkg-query', ['--list'], {
      encoding: 'utf8',
      env: { ...process.env, COLUMNS: '500' },
    });
    const installed = listed.split('\n').filter((line) => line.startsWith('ii'));
    const packages = installed.map((line) => line.split(/\s+/).slice(1, 3).join(' '));
    return packages.filter((name) => /opencl|pocl|^mesa|llvm|libclang|oclgrind|^ocl-/.test(name));
  } catch {
    return [];
  }
}

/** Returns names, sizes and times of the libraries in .icd files, for drivers that no package manager knows. */
function driverLibraries() {
  const folder = process.env.OCL_ICD_VENDORS ?? '/etc/OpenCL/vendors';
  if (!existsSync(folder)) return [];
  const icds = statSync(folder).isDirectory()
    ? readdirSync(folder)
        .filter((name) => name.endsWith('.icd'))
        .map((name) => readFileSync(join(folder, name), 'utf8').trim())
    : [folder];
  return icds.toSorted().map((library) => {
    const stats = existsSync(library) ? statSync(library) : undefined;
    return `${library} ${stats?.size} ${stats?.mtimeMs}`;
  });
}

/** Returns the model and instruction sets of the processor, which CPU drivers compile for. */
function processor() {
  if (!existsSync('/proc/cpuinfo')) return process.arch;
  const lines = readFileSync('/proc/cpuinfo', 'utf8').split('\n');
  return ['model name', 'flags', 'Features'].map((name) => lines.find((line) => line.startsWith(name)));
}

/** Returns the facts beside the sources that compiler results depend on: drivers and processor. */
export const machine = () => [driverPackages(), driverLibraries(), processor()];

/**
 * Returns the hash of all inputs of compiled kernels and self-tests. Results of another key are never used.
 *
 * @param {{ files?: readonly string[], facts?: unknown }} parts replaced by tests
 */
export function cacheKey({
  files = [...filesBelow(join(root, 'cl')), ...buildOptionSources()],
  facts = machine(),
} = {}) {
  const hash = createHash('sha256').update(JSON.stringify(facts));
  for (const file of files) hash.update(`\0${file.slice(root.length)}\0`).update(readFileSync(file));
  return hash.digest('hex').slice(0, 32);
}

/** Removes the least recently used folders. */
function forgetOldKeys(home) {
  const used = readdirSync(home).map((name) => ({ name, time: statSync(join(home, name)).mtimeMs }));
  for (const { name } of used.toSorted((a, b) => b.time - a.time).slice(MAX_KEYS)) {
    rmSync(join(home, name), { recursive: true, force: true });
  }
}

/**
 * Prepares the caches of a run.
 *
 * @param {{ home?: string, work?: string, key?: string }} places replaced by tests
 * @returns the environment in which drivers and tests use them, whether anything was restored, and `publish`, which
 *   stores what the run has compiled
 */
export function openKernelCache({
  home = join(cacheHome(), 'kernels'),
  work = join(root, '.setup', 'kernel-cache'),
  key = cacheKey(),
} = {}) {
  const kept = join(home, key);
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const isWarm = existsSync(kept);
  if (isWarm) {
    cpSync(kept, work, { recursive: true, preserveTimestamps: true });
    utimesSync(kept, new Date(), new Date());
  }
  const folders = Object.fromEntries(['pocl', 'mesa', 'clsort'].map((name) => [name, join(work, name)]));
  for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true, mode: 0o700 });
  // For all test processes: a record is valid only beside the key that it was sealed with.
  const seal = join(folders.clsort, 'key');
  if (!existsSync(seal)) writeFileSync(seal, randomBytes(32), { mode: 0o600 });
  const env = {
    POCL_CACHE_DIR: folders.pocl,
    MESA_SHADER_CACHE_DIR: folders.mesa,
    MESA_GLSL_CACHE_DIR: folders.mesa,
    CLSORT_CACHE_DIR: folders.clsort,
    CLSORT_TEST_CACHE: folders.clsort,
  };
  const publish = () => {
    mkdirSync(home, { recursive: true });
    const [made, old] = ['new', 'old'].map((word) => `${kept}.${process.pid}.${word}`);
    cpSync(work, made, { recursive: true, preserveTimestamps: true });
    if (existsSync(kept)) renameSync(kept, old);
    renameSync(made, kept);
    rmSync(old, { recursive: true, force: true });
    forgetOldKeys(home);
  };
  return { key, isWarm, env, publish };
}
