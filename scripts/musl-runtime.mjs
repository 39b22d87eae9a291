#!/usr/bin/env node
// Tries the packed package where the C library is musl, as on Alpine, and types what a new user types:
//
//   node scripts/musl-runtime.mjs        (as root on Debian x64, after `npm run build`)
//
// The folder .setup/musl gets musl and BusyBox from Debian, and Bun for musl from npm. No Node for musl is at hand, and
// Bun cannot load addons for Node: this tests the JavaScript code, not the addon. Debian has no C++ library for musl, and
// Bun needs few functions of one: they are linked from the static library for glibc.

import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withPackages } from './installed.mjs';
import { shownOutput } from './shown-output.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const musl = join(root, '.setup', 'musl');

/** Functions of glibc that the C++ library calls and musl lacks. */
const SUPPORT = `
typedef unsigned int key;
int pthread_key_create(key*, void (*)(void*));
long getrandom(void*, unsigned long, unsigned);
char __libc_single_threaded = 0;
int __pthread_key_create(key* created, void (*destroy)(void*)) { return pthread_key_create(created, destroy); }
int _dl_find_object(void* address, void* found) { return -1; }
unsigned arc4random(void) { unsigned bits = 0; getrandom(&bits, sizeof bits, 0); return bits; }
`;

/** Links a C++ library of the symbols that Bun requires. */
const LINK = `
cd "$1"
nm -D --defined-only lib/ld-musl-x86_64.so.1 | awk '{ print $3 }' | sort -u > tmp/musl
{ nm -D --undefined-only usr/bin/bun | awk '{ print $2 }'; readelf -rW usr/bin/bun | awk '/_COPY/ { print $5 }'; } |
  sed 's/@.*//' | sort -u | comm -23 - tmp/musl | grep -E '^_Z|^__cxa|^__dynamic|^__once' > tmp/wanted
gcc -O2 -fPIC -fno-builtin -w -c -o tmp/support.o tmp/support.c
ln -sf ld-musl-x86_64.so.1 lib/libc.so
g++ -shared -nostdlib -o usr/lib/libstdc++.so.6 -Wl,-soname,libstdc++.so.6 "$(gcc -print-file-name=crtbeginS.o)" tmp/support.o \\
  $(sed 's/^/-Wl,-u,/' tmp/wanted) -Wl,-Bstatic -lstdc++ -lgcc_eh -lgcc -Wl,-Bdynamic -Llib -lc "$(gcc -print-file-name=crtendS.o)"
`;

/** The first example of the README. */
const EXAMPLE = /```js\n([\s\S]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8'))[1];

/** What a new user types, text of the output, and the exit code. */
const TYPED = [
  ['bun add --ignore-scripts /app/clsort.tgz', /installed clsort@/, 0],
  ['bun example.mjs', /falling back to the host engine[\s\S]*Uint32Array/, 0],
  ['bun --bun node_modules/.bin/clsort --version', /^\d+\.\d+\.\d+\n$/, 0],
  [
    "printf '10\\n9\\n1e3\\n' > numbers.txt; bun --bun node_modules/.bin/clsort sort numbers.txt",
    /^9\n10\n1e3\n$/,
    0,
  ],
  ['bun --bun node_modules/.bin/clsort doctor', /linux-x64-musl[\s\S]*run clsort with Node\.js/, 4],
];

function makeRoot() {
  rmSync(musl, { recursive: true, force: true });
  for (const name of ['app', 'etc/ssl/certs', 'lib', 'proc', 'dev', 'tmp', 'usr/bin', 'usr/lib'])
    mkdirSync(join(musl, name), { recursive: true });
  symlinkSync('usr/bin', join(musl, 'bin'));
  const fetched = mkdtempSync(join(tmpdir(), 'clsort-musl-'));
  try {
    const run = (line, ...args) => execFileSync('sh', ['-ec', line, 'sh', ...args], { cwd: fetched });
    run('apt-get download -q musl busybox-static; for one in *.deb; do dpkg-deb -x "$one" .; done');
    run('npm pack --silent "$1"; tar -xzf *.tgz', '@oven/bun-linux-x64-musl@1.4.4');
    copyFileSync(join(fetched, 'lib/x86_64-linux-musl/libc.so'), join(musl, 'lib/ld-musl-x86_64.so.1'));
    copyFileSync(join(fetched, 'bin/busybox'), join(musl, 'usr/bin/busybox'));
    copyFileSync(join(fetched, 'package/bin/bun'), join(musl, 'usr/bin/bun'));
  } finally {
    rmSync(fetched, { recursive: true, force: true });
  }
  chmodSync(join(musl, 'lib/ld-musl-x86_64.so.1'), 0o755);
  chmodSync(join(musl, 'usr/bin/bun'), 0o755);
  writeFileSync(join(musl, 'tmp/support.c'), SUPPORT);
  execFileSync('sh', ['-ec', LINK, 'sh', musl], { stdio: 'inherit' });
  execFileSync('chroot', [musl, '/usr/bin/busybox', '--install', '-s', '/usr/bin']);
  copyFileSync('/etc/resolv.conf', join(musl, 'etc/resolv.conf'));
  copyFileSync('/etc/ssl/certs/ca-certificates.crt', join(musl, 'etc/ssl/certs/ca-certificates.crt'));
}

/** Runs a line of a shell in the folder. Not synchronously: this process is a registry. */
async function shell(line, env) {
  console.log(`$ ${line}`);
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const mounts = 'mount -t proc proc "$1/proc"; mount --rbind /dev "$1/dev"; exec chroot "$@"';
  const inside = ['env', '-i', ...variables, 'sh', '-c', `cd /app; ${line}`];
  const child = spawn('unshare', ['--mount', 'sh', '-ec', mounts, 'sh', musl, ...inside]);
  return await shownOutput(child);
}

makeRoot();
writeFileSync(join(musl, 'app/package.json'), '{ "private": true }\n');
writeFileSync(join(musl, 'app/example.mjs'), EXAMPLE);
await withPackages(async ({ archive, registry }) => {
  copyFileSync(archive, join(musl, 'app/clsort.tgz'));
  writeFileSync(join(musl, 'app/.npmrc'), `@clsort:registry=${registry}\n`);
  const env = { PATH: '/usr/bin', HOME: '/tmp', LANG: 'C.UTF-8' };
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
