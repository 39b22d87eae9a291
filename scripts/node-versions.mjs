#!/usr/bin/env node
// Builds the addon for several versions of Node, and runs the tests of the binding on each of them.
//
//   node scripts/node-versions.mjs [--build-only | --prebuilt] [--test TEST-FILE …] [VERSION …]
//
// With --prebuilt nothing is built: the addons are those of scripts/prebuild.mjs, which the package contains. Versions
// default to 20 22 24 26. Their binaries and headers come from npm, pinned by scripts/node-releases.json; they and the
// addons stay below .setup.

import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildAddon, fetchNode, run, VERSIONS } from './node-releases.mjs';
import { prebuiltAddon } from './prebuilds.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Other tests that depend on the version of Node. */
const OTHERS = ['compression', 'zstd-frames'].map((name) =>
  join('dist', 'test', 'io', 'streams', `${name}.test.js`),
);

const args = process.argv.slice(2);
const buildOnly = args.includes('--build-only');
const prebuilt = args.includes('--prebuilt');
const tests = args.filter((arg) => arg.endsWith('.js'));
const wanted = args.filter((arg) => /^\d+(\.\d+)*$/.test(arg));
const versions = wanted.length > 0 ? wanted : VERSIONS;

function test(home, addon) {
  const folder = join(root, 'dist', 'test', 'opencl');
  const files =
    tests.length > 0
      ? tests
      : readdirSync(folder)
          .filter((name) => name.endsWith('.test.js'))
          .map((name) => join('dist', 'test', 'opencl', name))
          .concat(OTHERS);
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
  console.log(`Node ${name}: ${prebuilt ? 'prebuilt' : 'building'}`);
  const addon = prebuilt
    ? prebuiltAddon(root, { platform: `linux-${process.arch}`, version })
    : buildAddon(version);
  if (buildOnly) continue;
  console.log(`Node ${name}: testing`);
  test(home, addon);
}
