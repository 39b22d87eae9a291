#!/usr/bin/env node
// Builds the addons that the package brings, prebuilds/linux-x64/node-abi-*, so that installing it needs
// no compiler:
//
//   node scripts/prebuild.mjs [VERSION …]        (default 20 22 24 26; as root, with debootstrap)
//
// An addon needs at least the libraries that it was built against. So they are built in a Debian 11 below
// .setup: glibc 2.31 and the libstdc++ of GCC 10, older than any supported Debian or Ubuntu has. What each
// addon asks for is read from its symbols, and it has to load there with all of them bound.

import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { abiOf, fetchNode, prebuiltAddon, run, VERSIONS } from './node-releases.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const debian = join(root, '.setup', 'debian-11');
const NEWEST = { GLIBC: '2.31', GLIBCXX: '3.4.28', CXXABI: '1.3.12' };

/**
 * The one header of the C++ library that Node 26 asks for and GCC 10 lacks. It has the layout of GCC 11's,
 * and its values are those of a default-constructed one there: no place known.
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

/** The old Debian with its compiler, made once; one that was interrupted is made anew. */
function makeDebian() {
  const complete = join(debian, 'complete');
  if (existsSync(complete)) return;
  rmSync(debian, { recursive: true, force: true });
  run('debootstrap', ['--variant=minbase', '--include=g++,make,python3', 'bullseye', debian]);
  writeFileSync(join(debian, 'usr/include/c++/10/source_location'), SOURCE_LOCATION);
  // Headers only, and newer than Debian 11's own.
  cpSync('/usr/include/CL', join(debian, 'usr/include/CL'), { recursive: true });
  mkdirSync(complete);
}

/** Copies what the addon is built from to /addon of the old Debian. */
function copySources() {
  rmSync(join(debian, 'addon'), { recursive: true, force: true });
  const query = ['query', ':is(#node-gyp, #node-gyp *, #nan)'];
  const packages = JSON.parse(execFileSync('npm', query, { cwd: root, encoding: 'utf8' }));
  const locations = new Set(packages.map(({ location }) => location));
  for (const path of ['binding.gyp', 'package.json', 'src/native', ...locations]) {
    cpSync(join(root, path), join(debian, 'addon', path), { recursive: true });
  }
}

const inDebian = (command, env = {}) =>
  run('chroot', [debian, 'sh', '-c', command], {
    env: { PATH: '/node/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', ...env },
  });

const isNewer = (version, limit) => version.localeCompare(limit, 'en', { numeric: true }) > 0;

/** @throws Error when the addon asks for newer libraries than Debian 11 has */
function assertOld(addon) {
  const symbols = execFileSync('objdump', ['-T', addon], { encoding: 'utf8' });
  for (const [library, limit] of Object.entries(NEWEST)) {
    const asked = [...symbols.matchAll(new RegExp(`\\b${library}_([\\d.]+)`, 'g'))].map(([, found]) => found);
    const highest = asked.reduce((most, version) => (isNewer(version, most) ? version : most), '0');
    console.log(`  ${library} ${highest} (at most ${limit})`);
    if (isNewer(highest, limit)) throw new Error(`${addon} needs ${library}_${highest}`);
  }
}

function build(version) {
  const home = fetchNode(version);
  const abi = abiOf(home);
  console.log(`Node ${version}, ABI ${abi}`);
  rmSync(join(debian, 'node'), { recursive: true, force: true });
  cpSync(home, join(debian, 'node'), { recursive: true });
  const gyp =
    'node node_modules/node-gyp/bin/node-gyp.js rebuild --nodedir=/node --jobs=max --loglevel=error';
  inDebian(`cd /addon && ${gyp} && strip --strip-unneeded build/Release/clsort.node`);
  const load =
    "require('/addon/build/Release/clsort.node'); console.log('  loads in Node ' + process.version)";
  inDebian(`node -e "${load}"`, { LD_BIND_NOW: '1' });
  const addon = prebuiltAddon(abi);
  mkdirSync(dirname(addon), { recursive: true });
  copyFileSync(join(debian, 'addon/build/Release/clsort.node'), addon);
  assertOld(addon);
}

const wanted = process.argv.slice(2);
makeDebian();
copySources();
for (const version of wanted.length > 0 ? wanted : VERSIONS) build(version);
