#!/usr/bin/env node
// Tries the packed package where the C library is musl, as on Alpine: types what a new user types, in Node and in Bun,
// and runs the tests of the addon's host engine.
//
//   node scripts/musl-runtime.mjs
//
// (as root on Debian x64, after `npm run build` and `node scripts/prebuild.mjs linux-x64-musl 26`; the programs are
// those of scripts/musl-root.mjs, in the folder .setup/musl, which has no OpenCL)

import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withPackages } from './installed.mjs';
import { makeMuslRoot } from './musl-root.mjs';
import { prebuiltAddon } from './prebuilds.mjs';
import { shownOutput } from './shown-output.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const musl = join(root, '.setup', 'musl');

/** The first example of the README. */
const EXAMPLE = /```js\n([\s\S]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8'))[1];

/** Says which engine sorted. */
const ENGINE = `
import { sort } from 'clsort';
const keys = Float64Array.from({ length: 1_000_000 }, (_, i) => Math.sin(i));
let report;
const sorted = await sort(keys, { verify: true, onReport: (it) => { report = it; } });
if (sorted.some((key, i) => i > 0 && sorted[i - 1] > key)) throw new Error('not sorted');
console.log(report.device.type, report.facts.engine);
`;

const NUMBERS = "printf '10\\n9\\n1e3\\n' > numbers.txt";

/** What a new user types, text of the output with that on stderr in any order, and the exit code. */
const TYPED = [
  ['npm install --ignore-scripts --no-audit --no-fund ./clsort.tgz', /added \d+ packages/, 0],
  ['ls node_modules/@clsort', /^[a-z0-9-]*linux-x64-musl[a-z0-9-]*\n$/, 0],
  ['node example.mjs', /Uint32Array/, 0],
  ['node engine.mjs', /host addon/, 0],
  [`${NUMBERS}; npx clsort sort numbers.txt 2>/dev/null`, /^9\n10\n1e3\n$/, 0],
  ['npx clsort doctor', /linux-x64-musl[\s\S]*addon +loaded/, 3],
  ['rm -r node_modules package-lock.json', /^$/, 0],
  ['bun add --ignore-scripts /app/clsort.tgz', /installed clsort@/, 0],
  ['bun example.mjs', /(?=[\s\S]*falling back to the host engine)[\s\S]*Uint32Array/, 0],
  ['bun --bun node_modules/.bin/clsort --version', /^\d+\.\d+\.\d+\n$/, 0],
  [`${NUMBERS}; bun --bun node_modules/.bin/clsort sort numbers.txt`, /^9\n10\n1e3\n$/, 0],
  ['bun --bun node_modules/.bin/clsort doctor', /linux-x64-musl[\s\S]*run clsort with Node\.js/, 4],
];

/** Tests of the host engine that need no program besides Node. */
const TESTS = ['sort/host/native-*', 'sort/host/steps', 'sort/host/host-verify', 'io/lines/*', 'io/checks/*']
  .map((name) => `dist/test/${name}.test.js`)
  .join(' ');
const ADDON = { platform: 'linux-x64-musl', version: '26' };

/** Runs a line of a shell in the folder. Not synchronously: this process is a registry. */
async function shell(line, env, place = '/app') {
  console.log(`$ ${line}`);
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const mounts = [
    'mount -t proc proc "$1/proc"; mount --rbind /dev "$1/dev"; mount --rbind /sys "$1/sys"',
    'mount --bind "$0" "$1/repository"; exec chroot "$@"',
  ].join('; ');
  const inside = ['env', '-i', ...variables, 'sh', '-c', `cd ${place}; ${line}`];
  const child = spawn('unshare', ['--mount', 'sh', '-ec', mounts, root, musl, ...inside]);
  return await shownOutput(child);
}

makeMuslRoot(musl);
writeFileSync(join(musl, 'app/package.json'), '{ "private": true }\n');
writeFileSync(join(musl, 'app/example.mjs'), EXAMPLE);
writeFileSync(join(musl, 'app/engine.mjs'), ENGINE);
const env = { PATH: '/usr/bin', HOME: '/tmp', LANG: 'C.UTF-8' };
await withPackages(async ({ archive, registry }) => {
  copyFileSync(archive, join(musl, 'app/clsort.tgz'));
  writeFileSync(join(musl, 'app/.npmrc'), `@clsort:registry=${registry}\n`);
  env.npm_config_registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
  // Authorities that this machine trusts besides those of Debian.
  if (process.env.NODE_EXTRA_CA_CERTS) {
    copyFileSync(process.env.NODE_EXTRA_CA_CERTS, join(musl, 'certificates.pem'));
    env.NODE_EXTRA_CA_CERTS = '/certificates.pem';
  }
  for (const [line, expected, code] of TYPED) {
    const { output, status } = await shell(line, env);
    if (status !== code || !expected.test(output))
      throw new Error(`'${line}' ended with ${status}, or did not print ${expected}`);
  }
});
copyFileSync(prebuiltAddon(root, ADDON), join(musl, 'app/clsort.node'));
const inRepository = { ...env, CI: 'true', CLSORT_ADDON: '/app/clsort.node', CLSORT_TEST_DEVICES: 'host' };
const { status } = await shell(
  `node node_modules/ava/entrypoints/cli.mjs ${TESTS}`,
  inRepository,
  '/repository',
);
if (status !== 0) throw new Error('tests of the host engine failed with musl');
rmSync(musl, { recursive: true, force: true });
