// The prebuilt addons of the package, prebuilds/PLATFORM/node-abi-*, and the check that they are complete and current.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ADDON_PLATFORMS, releaseOf, VERSIONS } from './node-releases.mjs';

/** All addons that the package must contain. */
export const PROMISED = ADDON_PLATFORMS.flatMap((platform) =>
  VERSIONS.map((version) => ({ platform, version })),
);

/** Returns the path of the addon for a platform and a version of Node, in the package folder `root`. */
export const prebuiltAddon = (root, { platform, version }) =>
  join(root, 'prebuilds', platform, `node-abi-${releaseOf(version).abi}`, 'clsort.node');

/** Returns the package.json of the package that holds an addon, which npm installs only where it loads. */
export function addonManifest({ version: clsort, license, publishConfig }, { platform, version }) {
  const [os, cpu, isMusl] = platform.split('-');
  return {
    name: `@clsort/${platform}-node${version}`,
    version: clsort,
    description: `Native addon of clsort for Node ${version} on ${platform}`,
    license,
    main: 'clsort.node',
    os: [os],
    cpu: [cpu],
    libc: [isMusl ? 'musl' : 'glibc'],
    engines: { node: `${version}.x` },
    publishConfig,
  };
}

const recordOf = (addon) => join(dirname(addon), 'clsort.json');

const hashOf = (files) => {
  const sum = createHash('sha256');
  for (const file of files) sum.update(readFileSync(file));
  return sum.digest('hex');
};

/** Returns the inputs of an addon: the version of the package, the version of Node, and the hash of the sources. */
function origin(root, { version }) {
  const native = join(root, 'src', 'native');
  const sources = readdirSync(native, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .toSorted();
  return {
    clsort: JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version,
    node: releaseOf(version).version,
    sources: hashOf([join(root, 'binding.gyp'), ...sources]),
  };
}

/**
 * Writes a record of the inputs of an addon next to it.
 *
 * @param sources the tree in which it was built: `root` may have changed since
 */
export function writeRecord(root, which, sources) {
  const addon = prebuiltAddon(root, which);
  const record = { ...origin(sources, which), addon: hashOf([addon]) };
  writeFileSync(recordOf(addon), `${JSON.stringify(record, null, 2)}\n`);
}

/** Returns why an addon must not be packed; undefined when it is valid. */
function faultOf(root, which) {
  const addon = prebuiltAddon(root, which);
  if (!existsSync(addon)) return 'missing';
  if (!existsSync(recordOf(addon)))
    return 'not built by scripts/prebuild.mjs: it has no clsort.json beside it';
  const record = JSON.parse(readFileSync(recordOf(addon), 'utf8'));
  const now = origin(root, which);
  if (record.clsort !== now.clsort)
    return `of version ${record.clsort}, where package.json says ${now.clsort}`;
  if (record.node !== now.node) return `built for Node ${record.node}, where ${now.node} is pinned`;
  if (record.sources !== now.sources)
    return 'built from other sources than those of src/native and binding.gyp';
  return record.addon === hashOf([addon]) ? undefined : 'changed after it was built';
}

/** Returns a line for each required addon that is missing or out of date. */
export const faults = (root) =>
  PROMISED.flatMap((which) => {
    const fault = faultOf(root, which);
    const { platform, version } = which;
    return fault ? [`${platform}, Node ${version} (ABI ${releaseOf(version).abi}): ${fault}`] : [];
  });
