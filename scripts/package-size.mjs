#!/usr/bin/env node
// Prints the size of the package and the number of its dependencies, and fails when a limit is exceeded:
//
//   node scripts/package-size.mjs        (after `npm run build`; addons are counted if they exist)

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { PROMISED, prebuiltAddon } from './prebuilds.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Upper limits. A change that needs more raises them, with the reason in its commit message. */
export const LIMITS = {
  /** Size of the archive, in bytes. With an addon it stays below 3 MB. */
  packed: 1_600_000,
  /** Size of the archive of an addon, in bytes. An installation takes one addon. */
  addon: 1_100_000,
  /** Number of packages in package.json, and of all packages that npm installs for them. */
  dependencies: 4,
  installed: 20,
};

/** Returns the packages that are installed with clsort, except optional ones. */
function installedPackages() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(packages)
    .filter(
      ([path, { dev, optional, peer, devOptional }]) =>
        path !== '' && !dev && !optional && !peer && !devOptional,
    )
    .map(([path]) => path.replace(/^.*node_modules\//, ''));
}

/** Measures the package as npm would pack it, the addons that exist, and the dependencies. */
export function measurePackage() {
  const pack = ['pack', '--dry-run', '--ignore-scripts', '--json'];
  const [listed] = JSON.parse(execFileSync('npm', pack, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 }));
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const addons = PROMISED.map((which) => prebuiltAddon(root, which)).filter((file) => existsSync(file));
  return {
    packed: listed.size,
    unpacked: listed.unpackedSize,
    files: listed.files.map(({ path }) => path),
    addons: addons.map((file) => gzipSync(readFileSync(file), { level: 9 }).length),
    dependencies: Object.keys(dependencies).length,
    installed: installedPackages().length,
  };
}

/** Returns a line per exceeded limit. */
export function excesses({ packed, addons, dependencies, installed }) {
  const over = (name, value, limit) =>
    value > limit ? [`${name}: ${value}, where scripts/package-size.mjs allows ${limit}`] : [];
  return [
    ...over('bytes of the archive', packed, LIMITS.packed),
    ...over('bytes of the archive of an addon', Math.max(0, ...addons), LIMITS.addon),
    ...over('dependencies', dependencies, LIMITS.dependencies),
    ...over('packages that are installed', installed, LIMITS.installed),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const size = measurePackage();
  const { packed, unpacked, files, addons, dependencies, installed } = size;
  const kilobytes = (bytes) => `${Math.round(bytes / 1000).toLocaleString('en')} kB`;
  console.log(
    `packed ${kilobytes(packed)} and an addon of at most ${kilobytes(Math.max(0, ...addons))}, ` +
      `unpacked ${kilobytes(unpacked)}, ${files.length} files; ` +
      `${dependencies} dependencies, ${installed} packages installed`,
  );
  for (const excess of excesses(size)) {
    console.error(excess);
    process.exitCode = 1;
  }
}
