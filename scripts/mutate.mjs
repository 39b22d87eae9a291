#!/usr/bin/env node
// Mutation tests: introduces small faults in a copy of this tree, one at a time, and runs the tests that should detect
// them:
//
//   node scripts/mutate.mjs [--only NAME] [--changed COMMIT] [--share 1/10] [--most N] [--seed N] [--jobs N] [--list]
//
//   --only     faults whose name contains this
//   --changed  faults in files that have changed since the commit; a missing ancestor stands for the first commit
//   --share    one part of that many, drawn by the seed
//   --most     at most this many faults, drawn by the seed
//   --seed     default 1000
//   --jobs     faults tried concurrently; default: one per processor
//   --list     prints the faults and checks that the place of each is found, without running tests
//
// The faults are data: scripts/mutations/*.mjs. A fault that no test detects survives, which is a failure, except for
// faults without an observable effect, which give a reason (`equivalent`). It is also a failure when the place of a
// fault is not found exactly once, or when its tests fail without it. Needs `npm run build`. A fault in the addon
// recompiles one file of it.

import { spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { OCLGRIND } from './drivers.mjs';
import { ADDON } from './mutations/addon.mjs';
import { HOST } from './mutations/host.mjs';
import { KERNELS } from './mutations/kernels.mjs';
import { LIBRARY } from './mutations/library.mjs';
import { LINES } from './mutations/lines.mjs';
import { rootlessEnv } from './rootless.mjs';
import { nodeHeaders } from './setup.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** All faults; names are unique. */
export const MUTATIONS = [...KERNELS, ...LIBRARY, ...ADDON, ...HOST, ...LINES];

/** Minutes after which hanging tests count as failed, so that the fault is detected. */
const TEST_MINUTES = 6;

/**
 * Returns the text with the fault.
 *
 * @throws Error when its place does not occur exactly once
 */
export function mutated(text, { name, file, find, replace }) {
  const places = text.split(find).length - 1;
  if (places !== 1) throw new Error(`'${name}' finds its place in ${file} ${places} times: expected once`);
  if (find === replace) throw new Error(`'${name}' changes nothing`);
  return text.replace(find, () => replace);
}

/** Shuffles a list (Fisher–Yates) with a linear congruential generator. */
function shuffled(list, seed) {
  const result = [...list];
  let state = BigInt(seed);
  for (let i = result.length - 1; i > 0; i--) {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
    const j = Number((state >> 33n) % BigInt(i + 1));
    [result[i], result[j]] = [result[j], result[i]];
  }
  return result;
}

/** Returns part `part` of `parts` of the faults. The parts of one seed cover each fault once. */
export function shareOf(mutations, share, seed) {
  const [part, parts] = /^([1-9]\d*)\/([1-9]\d*)$/.exec(share)?.slice(1).map(Number) ?? [];
  if (!part || part > parts) throw new Error(`--share ${share}: expected part/parts, such as 1/10`);
  return shuffled(mutations, seed).filter((_, i) => i % parts === part - 1);
}

/**
 * Returns the files that differ from a commit, or from the first commit when the history is shorter, as for HEAD~10.
 */
function changedSince(commit) {
  const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  const known = git('rev-parse', '--verify', '--quiet', `${commit}^{commit}`).stdout.trim();
  const base = known || git('rev-list', '--max-parents=0', 'HEAD').stdout.trim().split('\n')[0];
  const listed = git('diff', '--name-only', base);
  if (listed.status !== 0) throw new Error(`git diff ${base} failed: ${listed.stderr}`);
  return new Set(listed.stdout.split('\n').filter(Boolean));
}

// ---------------------------------------------------------------- the copy

const ADDON_FILE = join('build', 'Release', 'clsort.node');
/** The addon without a fault. */
const SOUND_ADDON = join('build', 'sound.node');

/** Copies the tree with its build outputs. */
function copyTree() {
  const folder = mkdtempSync(join(tmpdir(), 'clsort-mutate-'));
  const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (listed.status !== 0) throw new Error(`git ls-files failed: ${listed.stderr}`);
  for (const file of listed.stdout.split('\0').filter((name) => name && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(root, file), join(folder, file));
    // Older than their compiled output, so that only changed files are compiled again.
    if (file.startsWith('src/native/') || file === 'binding.gyp') utimesSync(join(folder, file), 0, 0);
  }
  for (const built of ['dist', 'build']) {
    if (!existsSync(join(root, built))) throw new Error(`${built} is missing: npm run build`);
    cpSync(join(root, built), join(folder, built), { recursive: true, preserveTimestamps: true });
  }
  cpSync(join(folder, ADDON_FILE), join(folder, SOUND_ADDON));
  // Kernels with faults are compiled into a copy, so that the permanent cache does not grow.
  const compiled = process.env.POCL_CACHE_DIR;
  if (compiled && existsSync(compiled)) cpSync(compiled, join(folder, 'pocl'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Compiles one TypeScript file without type checks: the tests should detect a fault, not the compiler. */
async function compile(text, file) {
  const { transform } = await import('esbuild');
  return (await transform(text, { loader: 'ts', format: 'esm', target: 'node20', sourcefile: file })).code;
}

/** Returns the files to write so that a file of the tree has another text. */
async function outputs(folder, file, text) {
  if (!file.endsWith('.ts')) return [[join(folder, file), text]];
  const made = join(folder, 'dist', file.replace(/\.ts$/, '.js'));
  if (!existsSync(made)) throw new Error(`${made} is missing: npm run build`);
  return [[made, await compile(text, file)]];
}

/**
 * Recompiles the changed part of the addon, or all of it when only the addon was kept.
 *
 * @throws Error when it does not compile
 */
function rebuild(folder) {
  const gyp = join(folder, 'node_modules/node-gyp/bin/node-gyp.js');
  const command = existsSync(join(folder, 'build/Makefile'))
    ? ['make', '-C', join(folder, 'build'), 'BUILDTYPE=Release', `-j${availableParallelism()}`]
    : [process.execPath, gyp, 'configure', 'build', '-C', folder, ...nodeHeaders(), '--loglevel=error'];
  const made = spawnSync(command[0], command.slice(1), {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, ...rootlessEnv(join(root, '.setup')) },
  });
  if (made.status !== 0) throw new Error(`the addon does not compile:\n${made.stderr.slice(-2000)}`);
}

// ---------------------------------------------------------------- tests

/** Kills a process and its descendants. */
function endGroup({ pid }) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has ended.
  }
}

/**
 * Runs tests of the copy.
 *
 * @returns whether all passed, and the output
 */
async function test(folder, { files, match = [], races = false, oclgrind = races, env = {} }, failFast) {
  const log = join(folder, 'oclgrind.log');
  rmSync(log, { force: true });
  const args = [
    join(folder, 'node_modules/ava/entrypoints/cli.mjs'),
    ...['--concurrency=1', ...(failFast ? ['--fail-fast'] : [])],
    ...match.map((title) => `--match=${title}`),
    ...files.map((file) => `dist/test/${file}.test.js`),
  ];
  const child = spawn(process.execPath, args, {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      ...rootlessEnv(join(root, '.setup')),
      CLSORT_CACHE_DIR: join(folder, 'cache'), // a faulty kernel's self-test record is used nowhere else
      CLSORT_TEST_CACHE: '',
      CLSORT_TEST_MAIN: join(folder, 'dist/src/cli/main.js'), // the bundle has no faults
      CLSORT_TEST_TIMES: '',
      POCL_CACHE_DIR: join(folder, 'pocl'),
      ...(oclgrind && { ...OCLGRIND, OCLGRIND_LOG: log, OCLGRIND_CHECK_API: '1' }),
      ...(races && { OCLGRIND_DATA_RACES: '1' }),
      ...env,
    },
  });
  const end = () => endGroup(child);
  process.once('exit', end);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
  const timer = setTimeout(end, TEST_MINUTES * 60_000);
  const code = await new Promise((resolve) => child.on('close', resolve));
  clearTimeout(timer);
  process.off('exit', end);
  const found = existsSync(log) ? readFileSync(log, 'utf8').trim() : '';
  const passed = Number(/^\s*(\d+) tests? passed/m.exec(output)?.[1] ?? 0);
  return { ok: code === 0 && found === '' && passed > 0, output: `${output}${found}` };
}

/** Returns whether the tests detect the fault in the copy. */
async function seen(folder, suites) {
  for (const suite of suites) {
    const { ok, output } = await test(folder, suite, true);
    if (/cannot compile .* for this device/.test(output))
      throw new Error('the kernel does not compile with it');
    if (!ok) return true;
  }
  return false;
}

/**
 * Applies one fault, runs its tests, and reverts it.
 *
 * @returns whether the tests detect it
 */
async function tryMutation(folder, mutation) {
  // From the copy, since the tree may change meanwhile.
  const text = readFileSync(join(folder, mutation.file), 'utf8');
  const isAddon = mutation.file.startsWith('src/native/');
  try {
    for (const [path, content] of await outputs(folder, mutation.file, mutated(text, mutation))) {
      writeFileSync(path, content);
    }
    if (isAddon) rebuild(folder);
    return await seen(folder, mutation.tests);
  } finally {
    for (const [path, content] of await outputs(folder, mutation.file, text)) writeFileSync(path, content);
    if (isAddon) cpSync(join(folder, SOUND_ADDON), join(folder, ADDON_FILE));
    rmSync(join(folder, 'cache'), { recursive: true, force: true });
  }
}

// ---------------------------------------------------------------- the run

const USAGE =
  'usage: node scripts/mutate.mjs [--only NAME] [--changed COMMIT] [--share 1/10] [--most N] [--seed N] [--jobs N] [--list]';

function chosen({ only, changed, share, most, seed }) {
  const named = MUTATIONS.filter(({ name }) => only === undefined || name.includes(only));
  if (named.length === 0) throw new Error(`no fault has '${only}' in its name`);
  const files = changed === undefined ? undefined : changedSince(changed);
  const touched = named.filter(({ file }) => files?.has(file) ?? true);
  const shared = share === undefined ? touched : shareOf(touched, share, seed);
  return most === undefined ? shared : shuffled(shared, seed).slice(0, Number(most));
}

/** Describes the faults that cannot be applied. */
export function misplaced(mutations = MUTATIONS) {
  const names = new Set();
  return mutations.flatMap((mutation) => {
    try {
      if (names.has(mutation.name)) throw new Error(`'${mutation.name}' is the name of two faults`);
      names.add(mutation.name);
      mutated(readFileSync(join(root, mutation.file), 'utf8'), mutation);
      return [];
    } catch (error) {
      return [error.message];
    }
  });
}

/**
 * Runs the tests of a fault without it, unless that has been done, and then with it.
 *
 * @returns the verdict; capitals mark a failure
 */
async function verdictOn(folder, mutation, healthy) {
  const { tests, equivalent } = mutation;
  try {
    for (const suite of tests) {
      const key = JSON.stringify(suite);
      if (!healthy.has(key)) healthy.set(key, test(folder, suite, false));
      const { ok, output } = await healthy.get(key);
      if (!ok) throw new Error(`its tests fail without it (${key}):\n${output.slice(-3000)}`);
    }
    const killed = await tryMutation(folder, mutation);
    if (equivalent) return killed ? 'NOT EQUIVALENT: a test sees it' : `equivalent: ${equivalent}`;
    return killed ? 'seen' : 'SURVIVED';
  } catch (error) {
    return `NOT TRIED: ${error.message}`;
  }
}

async function main() {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      share: { type: 'string' },
      changed: { type: 'string' },
      most: { type: 'string' },
      seed: { type: 'string', default: '1000' },
      jobs: { type: 'string', default: String(availableParallelism()) },
      list: { type: 'boolean', default: false },
    },
  });
  const { seed, jobs, most = '1' } = values;
  if (![seed, jobs, most].every((number) => /^\d+$/.test(number)) || jobs === '0') throw new Error(USAGE);
  const mutations = chosen(values);
  const broken = misplaced();
  for (const message of broken) console.log(`MISPLACED: ${message}`);
  if (values.list || broken.length > 0) {
    for (const { name, file, equivalent } of mutations) {
      console.log(`${name} (${file})${equivalent ? `: equivalent, ${equivalent}` : ''}`);
    }
    return broken.length;
  }
  console.log(`${mutations.length} of ${MUTATIONS.length} faults, seed ${values.seed}`);
  const started = performance.now();
  const seconds = () => ((performance.now() - started) / 1000).toFixed(0);
  const folders = Array.from({ length: Math.min(Number(jobs), mutations.length) }, copyTree);
  process.once('exit', () => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  /** Promise for the outcome of each suite without a fault. */
  const healthy = new Map();
  const failures = [];
  const left = [...mutations];
  async function tryAll(folder) {
    for (let mutation = left.shift(); mutation; mutation = left.shift()) {
      const { name, file } = mutation;
      const verdict = await verdictOn(folder, mutation, healthy);
      if (/^[A-Z]/.test(verdict)) failures.push(`${name} (${file}): ${verdict}`);
      console.log(`${seconds()} s  ${name} (${file}): ${verdict}`);
    }
  }
  await Promise.all(folders.map(tryAll));
  for (const failure of failures) console.log(`FAILED: ${failure}`);
  console.log(`${mutations.length - failures.length} faults as expected, ${failures.length} not`);
  return failures.length;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    process.exitCode = (await main()) === 0 ? 0 : 1;
  } catch (error) {
    console.error(error.message);
    process.exitCode = 2;
  }
}
