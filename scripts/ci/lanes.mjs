// The checks of CI, as data. A lane is a list of steps; each entry of `steps` is a step, or a list of concurrent steps.
//
// A step has a name and either `tests` (test files and options of ava, counted by test) or `command` (counted as one).
//   env      variables added to the environment
//   ava      replaces the command that runs the test files
//   minutes  after which the step counts as hung; 20 by default
//   log      a simulator's log below .setup/logs, which must stay empty
//
// `when` determines the runs that include a lane:
//   always    each run
//   rotation  one run in ten: see rotation.mjs
//   full      only runs with --full
//
// `reads` lists the inputs of a lane beside its test files and their imports: see unchanged.mjs. A lane without it
// depends on the whole tree.

import { readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { MESA, OCLGRIND } from '../drivers.mjs';
import { root } from './stage.mjs';

const node = (...args) => [process.execPath, ...args];
/** Returns the compiled test files below folders of test/, or in test/ itself for '.', by name. */
function inFolders(...folders) {
  return folders.flatMap((folder) =>
    readdirSync(join(root, 'test', folder), { recursive: folder !== '.' })
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => posix.join('dist/test', folder, file.replace(/\.ts$/, '.js')))
      .toSorted(),
  );
}
const FULL = { CLSORT_TEST_FULL: '1' };

// ---------------------------------------------------------------- the binding

const bindingFiles = (names) => names.map((name) => `dist/test/opencl/${name}.test.js`);
const bindingFilesWithout = (names) =>
  inFolders('opencl').filter((file) => !bindingFiles(names).includes(file));

/** Files that cannot run under sanitizers: they start workers, processes and fuzzing, or wait very often. */
export const NOT_SANITIZED = ['environment', 'examples', 'fuzz', 'leaks', 'prebuilt', 'waits'];

/** Files that are independent of the driver, or that repeat the other files under the test layer. */
const ONCE = ['api', 'environment', 'fuzz', 'leaks', 'prebuilt'];
/** Files that depend on the threads of a device. */
const OF_THREADS = ['callbacks', 'kernel', 'launches', 'objects', 'release-all', 'svm', 'transfer', 'waits'];
/** Files that depend on the version of Node and its V8. */
const OF_NODE = [
  ...['arguments', 'array-buffer', 'callbacks', 'environment', 'errors', 'handles', 'host-memory'],
  ...['kernel-argument', 'objects', 'reentrancy', 'roots', 'svm', 'transfer'],
];

// ---------------------------------------------------------------- the suites of npm test

const PROFILES = 'dist/test/device/profiles.test.js';
const BUNDLERS = 'dist/test/bundles.test.js';
/** Lane A is bound by compilation of kernels. The tests of batches and engines balance the two lanes. */
const COMPILING = [
  ...inFolders(
    'algorithms',
    'batch',
    'bench',
    'cl',
    'device',
    'engines',
    'explain',
    'full',
    'keys',
    'lab',
    'matrix',
    'primitives',
    'sort',
  ),
].filter((file) => file !== PROFILES);
/** Lane B is bound by processes: most of its time is spent starting commands and waiting for them. */
const PROCESSES = inFolders('.', 'cli', 'docs', 'io', 'scripts', 'util').filter((file) => file !== BUNDLERS);

/** The requirements of tests for pages, NumPy and queues are installed, so these tests must not be skipped. */
const REQUIRED = { CLSORT_REQUIRE_BROWSER: '1', CLSORT_REQUIRE_NUMPY: '1', CLSORT_REQUIRE_REDIS: '1' };

/**
 * The lanes of `npm test`, each with two concurrent test files: when one lane ends, the other still uses both
 * processors.
 */
export const TEST_LANES = [
  { name: 'A: algorithms, sort, batches', tests: COMPILING },
  { name: 'B: files, the command, docs', tests: PROCESSES },
];

// ---------------------------------------------------------------- other drivers

const CALLS_OF_SORTS = [
  'dist/test/sort/api/{on-device,radix-bits}.test.js',
  'dist/test/sort/backend/{column-kernels,column-verifier,key-range-probe}.test.js',
  'dist/test/sort/calls/on-device.test.js',
  'dist/test/sort/{operations,transfer}/*.test.js',
];
/** Test files that run on every driver, at small sizes, beside the calls of sorts. */
const MATRIX = [
  ...inFolders('algorithms', 'lab', 'primitives', 'full'),
  'dist/test/explain/explain.test.js',
  'dist/test/bench/ladder/steps.test.js',
];
const on = (device) => ({ ...MESA, CLSORT_TEST_DEVICES: device });

/** With every check on, the simulator sorts a few hundred keys per second: few tests, all kernels. */
const ON_OCLGRIND = [
  'dist/test/algorithms/*.test.js',
  'dist/test/lab/*.test.js',
  'dist/test/primitives/*.test.js',
  'dist/test/explain/explain.test.js',
  '--concurrency=1',
  '--match=*300 keys or fewer*',
  '--match=sorts 257 random*',
  '--match=*f32 with NaN first, descending*',
  '--match=*chains of 3 and 5*',
  '--match=merge meets all three regimes*',
  '--match=row sort*',
  '--match=reduce*',
  '--match=scan*',
  '--match=histogram*',
  '--match=gather*',
  '--match=*explains ties*',
  '--match=*the worked example*',
  // Subset of several-groups: communication between work-groups.
  '--match=*look-back*',
  '--match=*tiles each*',
  '--match=*values after keys*',
];
/**
 * The check for uninitialised reads is even slower. It requires unoptimised kernels, and the simulator cannot run such
 * a kernel after its calls are inlined.
 */
const WITH_UNINITIALISED_READS = [
  'dist/test/algorithms/every-algorithm.test.js',
  'dist/test/lab/*.test.js',
  'dist/test/primitives/*.test.js',
  'dist/test/explain/explain.test.js',
  '--concurrency=1',
  '--match=*300 keys or fewer*',
  '--match=reduce*',
  '--match=scan*',
  '--match=histogram*',
  '--match=gather*',
  '--match=*the worked example*',
];
const logged = (name, env) => ({ ...OCLGRIND, ...env, OCLGRIND_LOG: join(root, '.setup', 'logs', name) });

const OCLGRIND_STEPS = [
  [
    {
      name: 'small sizes on Oclgrind, with race and API checks',
      tests: ON_OCLGRIND,
      env: logged('races.log', { OCLGRIND_DATA_RACES: '1', OCLGRIND_CHECK_API: '1' }),
      log: 'races.log',
    },
    {
      name: 'small sorts of every kind on Oclgrind',
      tests: ['dist/test/full/*.test.js', '--concurrency=1'],
      env: OCLGRIND,
    },
    {
      name: 'every algorithm on Oclgrind, with uninitialised reads',
      tests: WITH_UNINITIALISED_READS,
      env: logged('reads.log', {
        OCLGRIND_UNINITIALIZED: '1',
        CLSORT_PROGRAM_CACHE: 'never', // its keys do not cover the simulator's own options
        OCLGRIND_BUILD_OPTIONS: '-cl-opt-disable -DINLINE=static',
      }),
      log: 'reads.log',
    },
  ],
];

// ---------------------------------------------------------------- fuzzing, soaks, mutants

/** A crash that does not recur is reported but does not fail, as in suites; a sanitizer finding always fails. */
const AGAIN = ['--again', '5'];
/**
 * Runs the same programs each time, so that only a change can cause a failure; `node scripts/fuzz.mjs` finds others.
 */
const fuzz = (device, sessions, ...args) => [
  'scripts/fuzz.mjs',
  ...['--seed', '1000', '--device', device, '--sessions', String(sessions), '--shrink', '120', ...args],
];
const randomSorts = (runs) => [
  'scripts/fuzz-sorts.mjs',
  ...['--seed', '1000', '--runs', String(runs), '--devices', 'host,pocl,rusticl'],
];
const soak = (...args) => node('scripts/soak.mjs', ...args);
const SERVING = ['server', '--minutes', '0.17'];

const NODES = ['20', '22', '24', '26'];
const OLDEST_AND_NEWEST = ['20', '26'];
/** Test files that depend on the version of Node. */
const ON_NODES = [
  ...bindingFiles(OF_NODE),
  ...['compression', 'zstd-frames'].map((name) => `dist/test/io/streams/${name}.test.js`),
];
/** Slices of the tests with CLSORT_TEST_FULL that fit one run each; the rest runs with --full. */
const full = (files, ...options) => ({
  name: `all combinations: ${files.join(' ')}`,
  tests: [...files.map((file) => `dist/test/${file}.test.js`), ...options, '--timeout=20m'],
  env: FULL,
});

// ---------------------------------------------------------------- the lanes

/** Returns the lanes of a run. They are created on demand, since some depend on the existing test files. */
export const lanes = () => [
  { name: 'npm test', when: 'always', steps: [{ name: 'npm test', suites: true, env: REQUIRED }] },
  {
    name: 'the binding under sanitizers',
    when: 'always',
    reads: [
      'binding.gyp',
      'src/native/',
      'src/opencl/',
      'test/opencl/',
      'test/layer/',
      'scripts/sanitize.mjs',
    ],
    steps: [
      [
        {
          name: 'the binding under ASan and UBSan',
          tests: bindingFilesWithout(NOT_SANITIZED),
          ava: node('scripts/sanitize.mjs'),
          minutes: 30,
        },
        {
          name: 'the binding without sanitizers',
          tests: bindingFiles(NOT_SANITIZED.filter((name) => name !== 'leaks')),
        },
      ],
    ],
  },
  {
    name: 'small sizes on rusticl',
    when: 'always',
    reads: ['cl/', 'src/native/'],
    steps: [
      {
        name: 'every algorithm and the calls of sorts on rusticl',
        tests: ['dist/test/algorithms/every-algorithm.test.js', ...CALLS_OF_SORTS],
        env: on('rusticl'),
      },
    ],
  },
  {
    name: 'device profiles',
    when: 'always',
    reads: ['cl/', 'src/native/', 'test/layer/', 'test/device/'],
    steps: [{ name: 'device profiles', tests: [PROFILES] }],
  },
  {
    name: 'random programs and operations',
    when: 'always',
    reads: ['cl/', 'src/', 'scripts/fuzz.mjs', 'scripts/fuzz-sorts.mjs', 'test/opencl/'],
    steps: [
      [
        { name: 'fuzz on PoCL', command: node(...fuzz('pocl', 60, ...AGAIN)) },
        { name: 'random operations on random data', command: node(...randomSorts(40)) },
      ],
    ],
  },
  {
    name: 'mutants of changed files',
    when: 'always',
    steps: [
      {
        name: 'mutants of files that changed in the last ten commits',
        command: node('scripts/mutate.mjs', '--changed', 'HEAD~10', '--most', '12'),
      },
    ],
  },
  ...ROTATION(),
  {
    name: 'everything else',
    when: 'full',
    steps: [
      { name: 'all combinations', tests: ['--timeout=60m'], env: FULL, minutes: 600 },
      { name: 'all mutants', command: node('scripts/mutate.mjs'), minutes: 600 },
      {
        name: 'all programs of vendors',
        command: node('scripts/compile-vendors.mjs', '--fetch', '--require', '--all'),
        minutes: 600,
      },
      { name: 'all prebuilt addons', command: node('scripts/prebuild.mjs', ...NODES), minutes: 60 },
      { name: 'the packed package with all of them', command: node('scripts/pack-test.mjs', ...NODES) },
    ],
  },
];

/** Returns the ten slices of the rotation. */
function ROTATION() {
  const slice = (name, steps, reads) => ({ name, when: 'rotation', steps, ...(reads && { reads }) });
  const kernels = ['cl/', 'src/native/'];
  return [
    slice('rusticl, and Node 22 and 24', [
      { name: 'more sizes on rusticl', tests: MATRIX, env: on('rusticl') },
      {
        name: 'the binding on Node 22 and 24',
        tests: ON_NODES,
        ava: node('scripts/node-versions.mjs', '22', '24'),
      },
    ]),
    slice('Clover', [{ name: 'small sizes on Clover', tests: MATRIX, env: on('clover') }], kernels),
    slice('Oclgrind', OCLGRIND_STEPS, kernels),
    slice('the binding on other drivers', [
      { name: 'the binding releases what it makes', tests: bindingFiles(['leaks']) },
      {
        name: "the binding on PoCL's basic device",
        tests: bindingFiles(OF_THREADS),
        env: { POCL_DEVICES: 'basic' },
      },
      { name: 'the binding on rusticl', tests: bindingFilesWithout(ONCE), env: on('rusticl') },
      { name: 'the binding on Clover', tests: bindingFilesWithout(ONCE), env: on('clover') },
      { name: 'the binding on Oclgrind', tests: bindingFilesWithout(ONCE), env: OCLGRIND },
    ]),
    slice('the package, and sorts on Clover', [
      {
        name: 'prebuilt addons for Linux x64',
        command: node('scripts/prebuild.mjs', 'linux-x64', ...OLDEST_AND_NEWEST),
      },
      {
        name: 'the packed package, installed',
        command: node('scripts/pack-test.mjs', ...OLDEST_AND_NEWEST),
      },
      {
        name: 'the packed package in Bun and Deno, and its types',
        command: node('scripts/runtimes.mjs'),
        minutes: 10,
      },
      {
        name: 'the steps of the container, and what a new user types, on Debian 12 and 13',
        command: node('scripts/container.mjs'),
        minutes: 15,
      },
      {
        name: 'the prebuilt addon for musl',
        command: node('scripts/prebuild.mjs', 'linux-x64-musl', '26'),
      },
      {
        name: 'what a new user types where the C library is musl, in Node and Bun',
        command: node('scripts/musl-runtime.mjs'),
        minutes: 10,
      },
      {
        name: 'the binding on the newest Node',
        tests: ON_NODES,
        ava: node('scripts/node-versions.mjs', '--prebuilt', '26'),
      },
      { name: 'the calls of sorts on Clover', tests: CALLS_OF_SORTS, env: on('clover') },
    ]),
    slice('the site', [{ name: 'the site', command: node('scripts/docs.mjs', '--check') }]),
    slice('faults and many machines', [
      [
        { name: 'faults of every call', tests: inFolders('faults') },
        { name: 'many machines', command: node('scripts/many-machines.mjs') },
      ],
    ]),
    slice('all combinations, and bundlers', [
      full([
        'full/cross-product',
        'full/properties',
        'algorithms/every-algorithm',
        'io/formats/text/property',
      ]),
      { name: 'bundlers', tests: [BUNDLERS] },
    ]),
    slice('fuzz and soaks', [
      [
        { name: 'fuzz on rusticl', command: node(...fuzz('rusticl', 30, ...AGAIN)) },
        { name: 'fuzz on Clover', command: node(...fuzz('clover', 25, ...AGAIN)) },
        { name: 'fuzz on Oclgrind', command: node(...fuzz('oclgrind', 20, ...AGAIN)) },
      ],
      { name: 'the host engine under ThreadSanitizer', command: node('scripts/sanitize-threads.mjs') },
      // Sequential: the first step builds the addon if it is not cached.
      {
        name: 'fuzz on PoCL under ASan and UBSan',
        command: node('scripts/sanitize.mjs', '--', ...fuzz('pocl', 15)),
      },
      {
        name: 'fuzz on rusticl under ASan and UBSan',
        command: node('scripts/sanitize.mjs', '--', ...fuzz('rusticl', 15)),
      },
      {
        name: 'random calls on sharded arrays',
        command: node('scripts/fuzz-multi-device.mjs', '--replay', '2'),
      },
      { name: 'a soak of the binding', command: soak('binding', '--scale', '0.02') },
      { name: 'a soak of a Sorter that serves 64 clients', command: soak(...SERVING) },
      {
        name: 'the same on a device with memory of its own',
        command: soak(...SERVING, '--own-memory', '--dtypes', 'u8,f64'),
      },
      { name: 'short soaks', tests: inFolders('soaks') },
      { name: 'a soak of two devices', command: soak('devices', '--minutes', '0.2', '--seed', '1000') },
    ]),
    slice('mutants and compilers of vendors', [
      { name: 'a share of all mutants', command: node('scripts/mutate.mjs', '--share', '1/14') },
      {
        name: 'compilers of vendors',
        command: node('scripts/compile-vendors.mjs', '--fetch', '--require', '--most', '14'),
      },
      { name: 'the matrix on rusticl and Clover', command: matrixOfMesa(), env: MESA },
    ]),
  ];
}

function matrixOfMesa() {
  const devices = ['--device', 'rusticl', 'clover'];
  return node('dist/src/cli/main.js', 'matrix', ...devices, '--quick', '--only', 'u32,300', '--markdown');
}
