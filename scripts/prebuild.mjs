#!/usr/bin/env node
// Builds the addons that are published, prebuilds/PLATFORM/node-abi-*, so that an installation needs no compiler:
//
//   node scripts/prebuild.mjs [PLATFORM …] [VERSION …]
//
// (as root on Debian x64, with debootstrap and qemu-user-static; default: linux-x64, linux-arm64, linux-x64-musl and
// linux-arm64-musl, for 20 22 24 26)
//
// An addon needs at least the library versions that it was built with. It is therefore built in a Debian 11 below
// .setup: glibc 2.31 and the libstdc++ of GCC 10, older than those of any supported Debian or Ubuntu. The required
// versions are read from the symbols of each addon, and it must load with those libraries and all symbols bound; the
// arm64 addons load in an emulated Node. Those for musl load in musl's dynamic linker, with stubs for the functions of
// Node; scripts/musl-runtime.mjs runs the one for Node 26 in Node.

import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inDebian, makeDebian } from './debian.mjs';
import { addMusl, muslCompiler } from './musl.mjs';
import { ADDON_PLATFORMS, fetchNode, releaseOf, run, VERSIONS } from './node-releases.mjs';
import { prebuiltAddon, writeRecord } from './prebuilds.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const NEWEST = { GLIBC: '2.31', GLIBCXX: '3.4.28', CXXABI: '1.3.12' };

/** Names of the architectures in the tools, and in the folders of their headers and libraries. */
const ARCHS = { x64: 'x86_64', arm64: 'aarch64' };

/** Returns the parts of a platform's name: the release of Node that it runs, its architecture, and its C library. */
function partsOf(platform) {
  const [os, cpu, libc] = platform.split('-');
  return { release: `${os}-${cpu}`, cpu, arch: ARCHS[cpu], isMusl: libc === 'musl' };
}

/**
 * The only header of the C++ library that Node 26 requires and GCC 10 lacks. It has the layout of GCC 11's, and the
 * values of a default-constructed object: no known location.
 */
const SOURCE_LOCATION = `#pragma once
#include <cstdint>
namespace std {
struct source_location {
  static constexpr source_location current() noexcept { return {}; }
  constexpr uint_least32_t line() const noexcept { return 0; }
  constexpr uint_least32_t column() const noexcept { return 0; }
  constexpr const char* file_name() const noexcept { return ""; }
  constexpr const char* function_name() const noexcept { return ""; }

 private:
  const void* place_ = nullptr;
};
}  // namespace std
`;

const wanted = process.argv.slice(2);
const named = ADDON_PLATFORMS.filter((platform) => wanted.includes(platform));
const platforms = named.length > 0 ? named : ADDON_PLATFORMS;
const versions = wanted.filter((name) => !named.includes(name));
const parts = platforms.map(partsOf);
const buildsForArm = parts.some(({ cpu }) => cpu === 'arm64');
const muslArchs = [...new Set(parts.filter(({ isMusl }) => isMusl).map(({ arch }) => arch))];

/** Debian 11 with the compilers. */
const debian = await makeDebian('debian-11', {
  suite: 'bullseye',
  packages: ['g++', 'make', 'python3', ...(buildsForArm ? ['g++-aarch64-linux-gnu'] : [])],
  prepare(folder) {
    for (const headers of ['usr/include', ...(buildsForArm ? ['usr/aarch64-linux-gnu/include'] : [])]) {
      writeFileSync(join(folder, headers, 'c++/10/source_location'), SOURCE_LOCATION);
    }
    // Headers only, and newer than those of Debian 11.
    cpSync('/usr/include/CL', join(folder, 'usr/include/CL'), { recursive: true });
  },
});

if (muslArchs.length > 0) addMusl(debian, muslArchs);

/** Copies the sources of the addon to /addon of the Debian installation. */
function copySources() {
  rmSync(join(debian, 'addon'), { recursive: true, force: true });
  const query = ['query', ':is(#node-gyp, #node-gyp *, #nan)'];
  const packages = JSON.parse(execFileSync('npm', query, { cwd: root, encoding: 'utf8' }));
  const locations = new Set(packages.map(({ location }) => location));
  for (const path of ['binding.gyp', 'package.json', 'src/native', ...locations]) {
    cpSync(join(root, path), join(debian, 'addon', path), { recursive: true });
  }
}

/** Copies a folder of this machine into the Debian installation, replacing an existing one. */
function copyInto(folder, place) {
  rmSync(join(debian, place), { recursive: true, force: true });
  cpSync(folder, join(debian, place), { recursive: true });
}

const isNewer = (version, limit) => version.localeCompare(limit, 'en', { numeric: true }) > 0;

/**
 * Checks the library versions that the addon requires.
 *
 * @throws Error when it requires newer libraries than those of Debian 11
 */
function assertOld(addon) {
  const symbols = execFileSync('objdump', ['-T', addon], { encoding: 'utf8' });
  for (const [library, limit] of Object.entries(NEWEST)) {
    const asked = [...symbols.matchAll(new RegExp(`\\b${library}_([\\d.]+)`, 'g'))].map(([, found]) => found);
    if (asked.length === 0) throw new Error(`${addon} asks nothing of ${library}: objdump has not read it`);
    const highest = asked.reduce((most, version) => (isNewer(version, most) ? version : most), '0');
    console.log(`  ${library} ${highest} (at most ${limit})`);
    if (isNewer(highest, limit)) throw new Error(`${addon} needs ${library}_${highest}`);
  }
}

const LOAD = `
const [, addon, abi] = process.argv;
const { version, arch, versions } = process;
if (versions.modules !== abi) throw new Error('Node ' + version + ' has ABI ' + versions.modules + ', not ' + abi);
require(addon);
console.log('  loads in Node ' + version + ' for ' + arch);
`;

/**
 * Loads the addon with the old libraries of its platform.
 *
 * @throws Error when it does not load, or has another ABI
 */
function assertLoads(addon, { cpu, arch }, home, abi) {
  const env = { LD_BIND_NOW: '1' };
  if (cpu === 'x64') {
    inDebian(debian, ['/node/bin/node', '-e', LOAD, '/addon/build/Release/clsort.node', abi], env);
    return;
  }
  const libraries = join(debian, 'usr', `${arch}-linux-gnu`);
  run('qemu-aarch64-static', ['-L', libraries, join(home, 'bin', 'node'), '-e', LOAD, addon, abi], { env });
}

/** Returns the symbols that a file exports, or with `--undefined-only` requires. */
const symbolsOf = (file, which = '--defined-only') =>
  execFileSync('nm', ['-D', '--format=posix', which, file], { encoding: 'utf8', maxBuffer: 2 ** 28 })
    .split('\n')
    .map((line) => line.split(/[ @]/))
    .filter(([, type]) => type !== 'w')
    .map(([name]) => name);

const LOADER = `#include <dlfcn.h>
#include <stdio.h>
int main() {
  if (dlopen("/addon/build/Release/clsort.node", RTLD_NOW)) return 0;
  puts(dlerror());
  return 1;
}
`;

/**
 * Loads the addon with musl, and stubs for the functions of Node.
 *
 * @throws Error when it requires a function that neither Node nor musl has
 */
function assertLoadsInMusl(addon, { arch }, home) {
  const ofNode = new Set(symbolsOf(join(home, 'bin', 'node')));
  const stubs = symbolsOf(addon, '--undefined-only').filter(
    (name) => ofNode.has(name) && /^_Z|^node_|^uv_/.test(name),
  );
  writeFileSync(
    join(debian, 'opt/musl/node.s'),
    `${stubs.map((name) => `.globl ${name}\n${name}:\n`).join('')}ret\n`,
  );
  writeFileSync(join(debian, 'opt/musl/loader.c'), LOADER);
  const libraries = `/usr/lib/${arch}-linux-musl`;
  const linker = `/lib/ld-musl-${arch}.so.1`;
  const start = ['Scrt1.o', 'crti.o', 'crtn.o'].map((name) => join(libraries, name));
  const options = [
    '-nostdlib',
    '-rdynamic',
    `-Wl,--dynamic-linker=${linker}`,
    `-L${libraries}`,
    '-o',
    'loader',
  ];
  const gcc = ['env', '-C', '/opt/musl', `${arch}-linux-gnu-gcc`, ...options];
  inDebian(debian, [...gcc, ...start, 'loader.c', 'node.s', '-lc']);
  if (arch === 'x86_64') inDebian(debian, ['/opt/musl/loader']);
  console.log(arch === 'x86_64' ? '  loads with musl' : '  linked for musl');
}

function build(platform, version) {
  const { abi, version: release } = releaseOf(version);
  console.log(`${platform}: Node ${release}, ABI ${abi}`);
  const target = partsOf(platform);
  const { arch, cpu, isMusl } = target;
  const home = fetchNode(version, target.release);
  copyInto(fetchNode(version), 'node');
  copyInto(join(home, 'include'), 'headers/include');
  const triplet = `${arch}-linux-gnu`;
  const gyp = ['node_modules/node-gyp/bin/node-gyp.js', 'rebuild', '-C', '/addon', '--nodedir=/headers'];
  const options = [`--arch=${cpu}`, '--jobs=max', '--loglevel=error'];
  inDebian(debian, ['env', '-C', '/addon', '/node/bin/node', ...gyp, ...options], {
    CC: `${triplet}-gcc`,
    CXX: isMusl ? muslCompiler(arch) : `${triplet}-g++`,
    AR: `${triplet}-ar`,
    // binding.gyp asks the Node in PATH for the location of nan.
    PATH: '/node/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  });
  inDebian(debian, [`${triplet}-strip`, '--strip-unneeded', '/addon/build/Release/clsort.node']);
  const built = join(debian, 'addon/build/Release/clsort.node');
  if (isMusl) {
    assertLoadsInMusl(built, target, home);
  } else {
    assertOld(built);
    assertLoads(built, target, home, abi);
  }
  const addon = prebuiltAddon(root, { platform, version });
  mkdirSync(dirname(addon), { recursive: true });
  copyFileSync(built, addon);
  writeRecord(root, { platform, version }, join(debian, 'addon'));
}

copySources();
for (const platform of platforms) {
  for (const version of versions.length > 0 ? versions : VERSIONS) build(platform, version);
}
