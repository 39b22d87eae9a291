#!/usr/bin/env node
// Runs the tests on drivers newer than Debian 12's: PoCL 6, whose CPU device has sub-groups, and rusticl 25.
//
//   node scripts/newer-drivers.mjs [TEST FILE …]        (as root, with debootstrap; default: all tests)
//
// The drivers are installed into a Debian 13 below .setup, where this tree is mounted, for the time of the
// tests only, with the running Node. The tree has to be built: npm run build.

import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchNode, run } from './node-releases.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const debian = join(root, '.setup', 'debian-13');
const PACKAGES = ['ca-certificates', 'ocl-icd-libopencl1', 'pocl-opencl-icd', 'mesa-opencl-icd'];

/** The sizes of sub-groups follow the width of vectors: 4, 8, 16. */
const RUSTICL = [128, 256, 512].map((width) => ({
  name: `rusticl with vectors of ${width} bits`,
  env: { CLSORT_TEST_DEVICES: 'rusticl', RUSTICL_ENABLE: 'llvmpipe', LP_NATIVE_VECTOR_WIDTH: `${width}` },
  files: [
    'dist/test/algorithms/**/*.test.js',
    'dist/test/primitives/**/*.test.js',
    'dist/test/explain/explain.test.js',
  ],
}));
const DRIVERS = [
  {
    name: 'PoCL',
    env: { CLSORT_TEST_DEVICES: 'pocl' },
    // The constants are those of Debian 12's headers.
    files: ['dist/test/**/*.test.js', '!dist/test/opencl/api.test.js'],
  },
  ...RUSTICL,
];

/** The newer Debian, made once; one that was interrupted is made anew. */
function makeDebian() {
  const complete = join(debian, 'complete');
  if (existsSync(complete)) return;
  rmSync(debian, { recursive: true, force: true });
  run('debootstrap', ['--variant=minbase', `--include=${PACKAGES}`, 'trixie', debian]);
  mkdirSync(join(debian, 'clsort'));
  mkdirSync(complete);
}

/** A command in the newer Debian, with this tree at /clsort. The mounts end with the command. */
function inDebian(command, env) {
  const mounts = ['proc', 'sys', 'dev'].map((name) => `mount --rbind /${name} '${debian}/${name}'`);
  mounts.push(`mount --bind '${root}' '${debian}/clsort'`);
  run(
    'unshare',
    ['--mount', 'sh', '-ec', `${mounts.join('\n')}\nexec chroot '${debian}' sh -ec '${command}'`],
    {
      env: { PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', ...env },
    },
  );
}

const chosen = process.argv.slice(2);
makeDebian();
// A Node that brings its libraries; the addon that was built here fits every release of the same major version.
const node = join(fetchNode(process.versions.node.split('.')[0]), 'bin', 'node');
copyFileSync(node, join(debian, 'usr', 'local', 'bin', 'node'));
for (const { name, env, files } of DRIVERS) {
  console.log(`=== ${name}`);
  const tests = (chosen.length > 0 ? chosen : files).map((file) => `"${file}"`).join(' ');
  try {
    inDebian(`cd /clsort && exec node node_modules/ava/entrypoints/cli.mjs --timeout=30m ${tests}`, env);
  } catch {
    console.log(`--- ${name}: FAILED`);
    process.exitCode = 1;
  }
}
