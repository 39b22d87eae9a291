#!/usr/bin/env node
// Sets up everything for building, running and testing clsort:
//
//   node scripts/setup.mjs [--no-device]
//
// It installs npm packages from the lock file, and a C++ toolchain and OpenCL headers if they are missing. It builds
// the addon and the TypeScript when their sources have changed. If no OpenCL device is found, it installs PoCL as an
// embedded default device. It prints each step, runs non-interactively and is idempotent.
//
// System packages come from apt, as root or with sudo. Without either, apt downloads them and they are unpacked into
// .setup/root; .setup/env.json then holds the environment that locates them (run.mjs applies it). This is plain
// JavaScript without dependencies, since it runs before npm has installed anything.

import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildOnce } from './ci/build-cache.mjs';
import { rootlessEnv, unpackPackages } from './rootless.mjs';

export const root = fileURLToPath(new URL('..', import.meta.url));
const state = join(root, '.setup');
const MINIMUM_NODE = [20, 19];

const HEADERS = 'opencl-headers';
const TOOLCHAIN = ['g++', 'make', 'python3', HEADERS];
const DEVICE = ['pocl-opencl-icd', 'ocl-icd-libopencl1'];

const say = (line) => process.stderr.write(`set-up: ${line}\n`);

/** A failed step that is reported to the user. */
class SetupError extends Error {}

// ---------------------------------------------------------------- running things

/** The environment of all commands: the user's, and the variables for .setup/root. */
const environment = () => ({ ...process.env, ...rootlessEnv(state) });

const isThere = (command) =>
  (environment().PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, command)));

/** Runs a command with its output on stderr. */
function run(command, args, { quiet = false, ...options } = {}) {
  const { status, signal, error, stdout, stderr } = spawnSync(command, args, {
    cwd: root,
    env: environment(),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', quiet ? 'pipe' : process.stderr, quiet ? 'pipe' : process.stderr],
    ...options,
  });
  if (status === 0) return stdout ?? '';
  const said = `${stdout ?? ''}${stderr ?? ''}`.trim().split('\n').slice(-30).join('\n');
  throw new SetupError(
    `${[command, ...args].join(' ')} failed (${error?.message ?? signal ?? `exit code ${status}`})\n${said}`,
  );
}

function step(name, work) {
  const started = performance.now();
  say(`${name} …`);
  work();
  say(`${name}: done in ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

// ---------------------------------------------------------------- idempotence

export function filesBelow(path) {
  const full = join(root, path);
  if (!existsSync(full)) return [];
  return readdirSync(full, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

export function hashOf(files, ...words) {
  const sum = createHash('sha256');
  for (const word of words) sum.update(`${word}\0`);
  for (const file of files) sum.update(`${relative(root, file)}\0`).update(readFileSync(file));
  return sum.digest('hex');
}

/** Runs `work` unless it has been done for the same hash and its result still exists. */
function once(name, hash, result, work) {
  const stamp = join(state, `${name.replaceAll(/\W+/g, '-')}.stamp`);
  const last = existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';
  if (last === hash && existsSync(join(root, result))) return false;
  rmSync(stamp, { force: true });
  step(name, work);
  mkdirSync(state, { recursive: true });
  writeFileSync(stamp, hash);
  return true;
}

// ---------------------------------------------------------------- system packages

const isRoot = () => process.getuid?.() === 0;
const mayUseSudo = () =>
  isThere('sudo') && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0;

/**
 * Installs Debian packages, or unpacks them into a local folder.
 *
 * @throws SetupError when neither is possible
 */
function installPackages(packages, why) {
  if (process.platform !== 'linux' || !isThere('apt-get')) {
    throw new SetupError(
      `${why}: install the equivalent of Debian's ${packages.join(' ')} for this system, then run this again`,
    );
  }
  const prefix = isRoot() ? [] : mayUseSudo() ? ['sudo', '-n'] : undefined;
  if (!prefix) {
    step(`${why}: no root and no sudo, so ${packages.join(' ')} are unpacked into .setup/root`, () =>
      unpackPackages(state, packages, (command, args) => run(command, args, { quiet: true })),
    );
    return;
  }
  step(`${why}: installing ${packages.join(' ')} with apt`, () => {
    const apt = (...args) => {
      const [command, ...rest] = [...prefix, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', ...args];
      run(command, rest, { quiet: true });
    };
    apt('update', '-q');
    apt('install', '-y', '-q', '--no-install-recommends', ...packages);
  });
}

// ---------------------------------------------------------------- the steps

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [wantedMajor, wantedMinor] = MINIMUM_NODE;
  if (major < wantedMajor || (major === wantedMajor && minor < wantedMinor)) {
    throw new SetupError(
      `Node ${process.versions.node} is too old: clsort needs ${MINIMUM_NODE.join('.')} or newer`,
    );
  }
}

function npmPackages() {
  const lock = join(root, 'package-lock.json');
  once('npm packages', hashOf([lock], process.version), 'node_modules/.package-lock.json', () => {
    const npm = process.env.npm_execpath;
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    if (npm) run(process.execPath, [npm, ...args], { quiet: true });
    else run(process.platform === 'win32' ? 'npm.cmd' : 'npm', args, { quiet: true });
  });
}

/**
 * Returns the option of node-gyp for the headers of the running Node, if it includes them; node-gyp downloads them
 * otherwise.
 */
export function nodeHeaders() {
  const home = dirname(dirname(process.execPath));
  return existsSync(join(home, 'include', 'node', 'node.h')) ? [`--nodedir=${home}`] : [];
}

function hasHeaders() {
  const folders = ['/usr/include', '/usr/local/include', join(state, 'root', 'usr', 'include')];
  return folders.some((folder) => existsSync(join(folder, 'CL', 'cl.h')));
}

/** Installs the OpenCL headers, which the reference of the site lists, without a compiler. */
function openclHeaders() {
  if (!hasHeaders()) installPackages([HEADERS], 'to list the functions of OpenCL');
}

function addon() {
  const sources = [join(root, 'binding.gyp'), ...filesBelow('src/native')];
  const hash = hashOf(sources, process.versions.modules, process.arch);
  once('native addon', hash, 'build/Release/clsort.node', () => {
    const missing = TOOLCHAIN.filter((name) => !(name === HEADERS ? hasHeaders() : isThere(name)));
    if (missing.length > 0 && process.platform === 'linux') installPackages(missing, 'to build the addon');
    const gyp = join(root, 'node_modules', 'node-gyp', 'bin', 'node-gyp.js');
    buildOnce(join(root, 'build/Release/clsort.node'), [hash], () =>
      run(process.execPath, [gyp, 'rebuild', '--jobs=max', '--loglevel=error', ...nodeHeaders()], {
        quiet: true,
      }),
    );
  });
}

function typescript() {
  const bundle = join(root, 'scripts', 'bundle.mjs');
  const sources = [join(root, 'tsconfig.json'), ...['src', 'test', 'scripts'].flatMap(filesBelow)].filter(
    (file) => /\.(ts|json)$/.test(file) || file === bundle,
  );
  once('TypeScript', hashOf(sources), 'dist/bin/clsort.js', () => {
    // Not incremental: the output of a deleted source must disappear.
    rmSync(join(root, 'dist'), { recursive: true, force: true });
    run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', root], {
      quiet: true,
    });
    run(process.execPath, [bundle]);
  });
}

/** Returns the devices that `clsort devices` lists; empty when there is none. */
function answeringDevices() {
  try {
    const listing = execFileSync(process.execPath, ['dist/src/cli/main.js', 'devices', '--json'], {
      cwd: root,
      env: environment(),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const { devices } = JSON.parse(listing);
    return devices.filter(({ type }) => type !== 'host').map(({ name, platform }) => `${name} (${platform})`);
  } catch {
    return [];
  }
}

/**
 * Finds an OpenCL device, and installs PoCL if there is none.
 *
 * @returns whether there is an OpenCL device afterwards
 */
function device() {
  const found = answeringDevices();
  if (found.length > 0) {
    say(`OpenCL device: ${found.join(', ')}`);
    return true;
  }
  try {
    installPackages(DEVICE, 'no OpenCL device answers');
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    say(`PoCL could not be installed: ${error.message}`);
  }
  const now = answeringDevices();
  if (now.length > 0) say(`OpenCL device: ${now.join(', ')}`);
  else say('still no OpenCL device answers: the host engine will sort (slower, same results)');
  return now.length > 0;
}

/**
 * Returns the steps of a set-up. Without the addon nothing needs a C++ compiler.
 *
 * @param {{ wantDevice?: boolean, wantAddon?: boolean }} options
 */
export const stepsOf = ({ wantDevice = true, wantAddon = true } = {}) => [
  ...[checkNode, npmPackages, wantAddon ? addon : openclHeaders, typescript],
  ...(wantDevice ? [device] : []),
];

/**
 * Sets up what the options ask for.
 *
 * @param {{ wantDevice?: boolean, wantAddon?: boolean }} options
 */
export function setUp(options) {
  const started = performance.now();
  for (const run of stepsOf(options)) run();
  say(`ready after ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

/** Runs `main`, and ends the process with a message instead of a stack trace on failure. */
export async function asScript(main) {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    process.stderr.write(`set-up failed: ${error.message}\n`);
    process.exitCode = 1;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await asScript(() => setUp({ wantDevice: !process.argv.includes('--no-device') }));
}
