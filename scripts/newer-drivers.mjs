#!/usr/bin/env node
// Runs the tests on drivers newer than those of Debian 12: PoCL 6, whose CPU device has sub-groups, and rusticl 25 over
// llvmpipe and over zink on lavapipe.
//
//   node scripts/newer-drivers.mjs [TEST FILE …]           (as root, with debootstrap; default: all tests)
//   node scripts/newer-drivers.mjs --matrix FILE [DRIVER]  instead writes a report of `clsort matrix` on pocl (default:
//                                                          all cases), rusticl or zink (--quick)
//
// The drivers are installed into a Debian 13 below .setup, where this tree is mounted during the tests, with the
// running Node. Needs `npm run build`.

import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { inDebianWithTree, makeDebian } from './debian.mjs';
import { fetchNode } from './node-releases.mjs';

const PACKAGES = [
  ...['ca-certificates', 'ocl-icd-libopencl1', 'procps'],
  ...['pocl-opencl-icd', 'mesa-opencl-icd', 'mesa-vulkan-drivers'],
  // For the test of `clsort build-addon`.
  ...['g++', 'make', 'python3', 'opencl-headers'],
];

/** Variables with which rusticl offers a device on the CPU. */
const LLVMPIPE = { CLSORT_TEST_DEVICES: 'rusticl', RUSTICL_ENABLE: 'llvmpipe' };
/** Zink takes the place of llvmpipe, and has the Vulkan device lavapipe. */
const ZINK = {
  ...LLVMPIPE,
  GALLIUM_DRIVER: 'zink',
  LIBGL_ALWAYS_SOFTWARE: '1',
  VK_DRIVER_FILES: '/usr/share/vulkan/icd.d/lvp_icd.json',
};
const KERNEL_TESTS = [
  'dist/test/device/driver-probe.test.js',
  'dist/test/algorithms/**/*.test.js',
  'dist/test/primitives/**/*.test.js',
];

/** Sub-group sizes follow the width of vectors: 4, 8, 16. */
const RUSTICL = [128, 256, 512].map((width) => ({
  name: `rusticl with vectors of ${width} bits`,
  env: { ...LLVMPIPE, LP_NATIVE_VECTOR_WIDTH: `${width}` },
  files: [...KERNEL_TESTS, 'dist/test/explain/explain.test.js'],
}));
const DRIVERS = [
  {
    name: 'PoCL',
    env: { CLSORT_TEST_DEVICES: 'pocl' },
    // The constants are those of Debian 12's headers, and the other files need npm or git.
    files: [
      ...['dist/test/**/*.test.js', '!dist/test/opencl/api.test.js'],
      ...[
        '!dist/test/docs/package-links.test.js',
        '!dist/test/scripts/{ci,english,pack,prose,release}.test.js',
      ],
    ],
  },
  ...RUSTICL,
  {
    name: 'rusticl over zink on lavapipe',
    env: ZINK,
    // clsort refuses the device: sums of f32 keys end the process in the Vulkan driver, and `amd` sorts wrongly.
    files: ['dist/test/device/driver-probe.test.js'],
  },
];
const MATRIX = {
  pocl: { args: ['--device', 'Portable Computing Language'], env: {} },
  rusticl: { args: ['--device', 'rusticl', '--quick'], env: LLVMPIPE },
  // The device is refused without it.
  zink: { args: ['--device', 'rusticl', '--quick'], env: { ...ZINK, CLSORT_POLICY: 'firstBuild=off' } },
};

// The tests of this system find the layer in .setup as well, where one that is built in the newer Debian would not load.
const { layerLibrary } = await import('../dist/test/layer/layer.js');
layerLibrary();

const chosen = process.argv.slice(2);
const debian = await makeDebian('debian-13', { suite: 'trixie', packages: PACKAGES });
// A Node with its own libraries; the addon built here fits every release of the same major version.
const node = join(fetchNode(process.versions.node.split('.')[0]), 'bin', 'node');
copyFileSync(node, join(debian, 'usr', 'local', 'bin', 'node'));
if (chosen[0] === '--matrix') {
  const [, file, driver = 'pocl'] = chosen;
  const { args, env } = MATRIX[driver];
  // The shell is given the name as an argument.
  const report = 'file=$1; shift; exec node dist/src/cli/main.js matrix "$@" --seed 1 --json > "$file"';
  inDebianWithTree(debian, ['sh', '-c', report, 'sh', file, ...args], env);
  process.exit();
}
for (const { name, env, files } of DRIVERS) {
  console.log(`=== ${name}`);
  const tests = chosen.length > 0 ? chosen : files;
  try {
    inDebianWithTree(
      debian,
      ['node', 'node_modules/ava/entrypoints/cli.mjs', '--timeout=30m', ...tests],
      env,
    );
  } catch {
    console.log(`--- ${name}: FAILED`);
    process.exitCode = 1;
  }
}
