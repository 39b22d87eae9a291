#!/usr/bin/env node
// Tests the Linux arm64 builds under emulation, in an arm64 Debian 12 below .setup with its PoCL:
//
//   node scripts/arm64.mjs [tests | sorts | package] … [TEST-FILE …] [DTYPE …] [VERSION]
//
// (as root on Debian, with debootstrap and qemu-user-static, after scripts/prebuild.mjs and npm run build; default: all
// three, with Node 26)
//
//   tests     the tests of the binding, or the named ones, with the prebuilt addon
//   sorts     scripts/small-sorts.mjs with the prebuilt addon, for four dtypes or the named ones
//   package   the packed package, installed without a compiler: scripts/installed.mjs
//
// Emulation is slow: a run takes about an hour.

import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inArm64Debian, inDebian, makeDebian } from './debian.mjs';
import { makeApp, proveSorts, withPackages } from './installed.mjs';
import { fetchNode, VERSIONS } from './node-releases.mjs';
import { prebuiltAddon } from './prebuilds.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const platform = 'linux-arm64';
const TESTS = 'dist/test/opencl';
/**
 * Excluded: it compares the addon with the OpenCL headers, which this Debian lacks, and does not depend on the
 * architecture.
 */
const LEFT_OUT = ['api.test.js'];
/** One dtype per key width, covering every key order. */
const DTYPES = ['u8', 'i16', 'u32', 'f64'];

const args = process.argv.slice(2);
const version = args.find((arg) => VERSIONS.includes(arg)) ?? VERSIONS.at(-1);
const named = args.filter((arg) => arg.endsWith('.js'));
const dtypes = args.filter((arg) => /^[uif]\d+$/.test(arg));

const debian = await makeDebian('debian-12-arm64', {
  suite: 'bookworm',
  packages: ['ocl-icd-libopencl1', 'pocl-opencl-icd'],
  options: ['--arch=arm64', '--foreign'],
  prepare: (folder) => inArm64Debian(folder, ['/debootstrap/debootstrap', '--second-stage']),
});
copyFileSync(join(fetchNode(version, platform), 'bin', 'node'), join(debian, 'usr/local/bin/node'));

const withAddon = {
  CLSORT_ADDON: join('/clsort', prebuiltAddon('', { platform, version })),
  CLSORT_CACHE_DIR: '/var/tmp/clsort',
};

/** Builds the test layer with the compilers that build the addons; the emulated system has none. */
async function buildLayer() {
  const { LAYER_OPTIONS, LAYER_SOURCES, layerFile } = await import('../dist/test/layer/layer.js');
  const compilers = join(root, '.setup', 'debian-11'); // of scripts/prebuild.mjs
  for (const source of LAYER_SOURCES) cpSync(join(root, source), join(compilers, 'layer', source));
  const built = ['-o', '/layer/layer.so', join('/layer', LAYER_SOURCES[0])];
  inDebian(compilers, ['aarch64-linux-gnu-g++', ...LAYER_OPTIONS, ...built]);
  mkdirSync(dirname(layerFile('arm64')), { recursive: true });
  copyFileSync(join(compilers, 'layer', 'layer.so'), layerFile('arm64'));
}

const STEPS = {
  async tests() {
    await buildLayer();
    const all = readdirSync(join(root, TESTS)).filter(
      (name) => name.endsWith('.test.js') && !LEFT_OUT.includes(name),
    );
    const files = named.length > 0 ? named : all.map((name) => join(TESTS, name));
    const ava = ['node_modules/ava/entrypoints/cli.mjs', '--serial', '--timeout=60m'];
    const failed = [];
    // One file at a time, since the emulated ava sometimes crashes.
    for (const file of files) {
      await inArm64Debian(debian, ['node', ...ava, file], { env: withAddon }).catch(() => failed.push(file));
    }
    if (failed.length > 0) throw new Error(`${failed.length} of ${files.length} files: ${failed.join(' ')}`);
  },

  async sorts() {
    await inArm64Debian(
      debian,
      ['node', 'scripts/small-sorts.mjs', ...(dtypes.length > 0 ? dtypes : DTYPES)],
      { env: withAddon },
    );
  },

  async package() {
    // A PATH with a linker in it, which PoCL calls, and no compiler.
    const bin = join(debian, 'opt/linker');
    const app = join(debian, 'opt/app');
    for (const folder of [bin, app]) rmSync(folder, { recursive: true, force: true });
    mkdirSync(bin, { recursive: true });
    await inArm64Debian(debian, ['ln', '-s', '/usr/bin/ld', '/opt/linker/ld']);
    await withPackages(async ({ archive, addons }) => {
      makeApp(app);
      const addon = addons.find((one) => one.includes(`${platform}-node${version}`));
      // By npm of this machine, which would take the addon for its own platform.
      const npm = ['install', '--force', '--no-audit', '--no-fund', '--loglevel=error', archive, addon];
      execFileSync('npm', npm, { cwd: app, stdio: 'inherit' });
      await proveSorts((command) =>
        inArm64Debian(
          debian,
          ['env', '-C', '/opt/app', 'PATH=/opt/linker', '/usr/local/bin/node', ...command],
          { quiet: true },
        ),
      );
    });
  },
};

const steps = Object.keys(STEPS).filter((step) => args.includes(step));
for (const step of steps.length > 0 ? steps : Object.keys(STEPS)) {
  console.log(`=== ${step}, with Node ${version} for arm64`);
  try {
    await STEPS[step]();
    console.log(`--- ${step}: ok`);
  } catch (error) {
    console.log(`--- ${step}: FAILED\n${error.message}`);
    process.exitCode = 1;
  }
}
