#!/usr/bin/env node
// Runs the steps of scripts/Dockerfile in Debian installations below .setup, without a daemon, and then what a new user
// types. Instead of the base image it takes a Debian with the pinned Node and npm's newest version.
//
//   node scripts/container.mjs [SUITE …]        (as root on Debian x64, after `npm run build` and
//                                                scripts/prebuild.mjs linux-x64 26; default: bookworm trixie)

import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeDebian } from './debian.mjs';
import { withPackages } from './installed.mjs';
import { fetchNode } from './node-releases.mjs';
import { shownOutput } from './shown-output.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dockerfile = readFileSync(join(root, 'scripts/Dockerfile'), 'utf8');
const NODE = /^FROM node:(\d+)-/m.exec(dockerfile)[1];

/** The first example of the README. */
const EXAMPLE = /```js\n([\s\S]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8'))[1];

/** What a new user types, and text of the output. */
const TYPED = [
  ['clsort --version', /^\d+\.\d+\.\d+\n$/],
  ["printf '10\\n9\\n1e3\\n' > numbers.txt && clsort sort numbers.txt", /^9\n10\n1e3\n$/],
  ['clsort doctor', /ok +self-test/],
  [
    'mkdir app && cd app && npm init --yes > /dev/null && npm install --ignore-scripts "$CLSORT"',
    /added \d+ packages/,
  ],
  ['cd app && node example.mjs', /./],
];

/** Puts Node and npm's newest version into /usr/local. */
function addNode(debian) {
  copyFileSync(join(fetchNode(NODE), 'bin/node'), join(debian, 'usr/local/bin/node'));
  const modules = join(debian, 'usr/local/lib/node_modules');
  mkdirSync(modules, { recursive: true });
  const archive = execFileSync('npm', ['pack', '--silent', 'npm@latest'], {
    cwd: modules,
    encoding: 'utf8',
  }).trim();
  execFileSync('tar', ['-xzf', archive], { cwd: modules });
  rmSync(join(modules, 'npm'), { recursive: true, force: true });
  cpSync(join(modules, 'package'), join(modules, 'npm'), { recursive: true });
  rmSync(join(modules, 'package'), { recursive: true });
  rmSync(join(modules, archive));
  writeFileSync(
    join(debian, 'usr/local/bin/npm'),
    '#!/bin/sh\nexec node /usr/local/lib/node_modules/npm/bin/npm-cli.js "$@"\n',
    {
      mode: 0o755,
    },
  );
}

/** Runs a line of a shell in the installation, and returns its output. Not synchronously: this process is a registry. */
async function shell(debian, line, env, user = 'root') {
  console.log(`${user === 'root' ? '#' : '$'} ${line}`);
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const inside = ['env', '-i', ...variables, 'sh', '-ec', `cd "$HOME"; ${line}`];
  const mounts =
    'mount -t proc proc "$1/proc"; mount --rbind /dev "$1/dev"; mount --rbind /sys "$1/sys"; shift; exec chroot "$@"';
  const asUser = user === 'root' ? [] : ['--userspec=1000:1000'];
  const child = spawn('unshare', [
    '--mount',
    'sh',
    '-ec',
    mounts,
    'sh',
    debian,
    ...asUser,
    debian,
    ...inside,
  ]);
  const { output, status } = await shownOutput(child);
  if (status !== 0) throw new Error(`'${line}' ended with ${status}`);
  return output;
}

async function prove(suite, { archive, registry }) {
  const debian = await makeDebian(`debian-${suite}-container`, { suite, packages: ['ca-certificates'] });
  console.log(`\n=== ${suite}, Node ${NODE}`);
  addNode(debian);
  for (const name of ['var/cache/clsort', 'data'])
    rmSync(join(debian, name), { recursive: true, force: true });
  copyFileSync('/etc/resolv.conf', join(debian, 'etc/resolv.conf'));
  copyFileSync(archive, join(debian, basename(archive)));
  // A shell does not pass on a variable of that name.
  mkdirSync(join(debian, 'usr/local/etc'), { recursive: true });
  writeFileSync(join(debian, 'usr/local/etc/npmrc'), `@clsort:registry=${registry}\n`);
  const env = {
    PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: '/root',
    CLSORT: `/${basename(archive)}`,
  };
  env.npm_config_registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
  // Authorities that this machine trusts besides those of Debian.
  const { NODE_EXTRA_CA_CERTS } = process.env;
  if (NODE_EXTRA_CA_CERTS) {
    copyFileSync(NODE_EXTRA_CA_CERTS, join(debian, 'certificates.pem'));
    env.NODE_EXTRA_CA_CERTS = '/certificates.pem';
  }
  for (const [, step, text] of dockerfile.matchAll(/^(RUN|ENV) (.*)$/gm)) {
    if (step === 'RUN') await shell(debian, text, env);
    else Object.assign(env, Object.fromEntries([text.split('=')]));
  }
  Object.assign(env, { HOME: '/data', CLSORT: `/${basename(archive)}` });
  for (const [line, expected] of TYPED) {
    const output = await shell(debian, line, env, 'node');
    if (!expected.test(output)) throw new Error(`'${line}' did not print ${expected}`);
    if (line.startsWith('mkdir app')) writeFileSync(join(debian, 'data/app/example.mjs'), EXAMPLE);
  }
}

const suites = process.argv.slice(2);
await withPackages(async (packed) => {
  for (const suite of suites.length > 0 ? suites : ['bookworm', 'trixie']) await prove(suite, packed);
});
