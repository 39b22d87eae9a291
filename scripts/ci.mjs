#!/usr/bin/env node
// Checks everything that has to hold before a change lands, on a machine with nothing but Node, git and Debian:
//
//   node scripts/ci.mjs [--full] [--lane NAME …] [--list]
//
//   --full  all lanes, and all combinations and mutants; takes hours
//   --lane  only lanes whose name contains this
//   --list  prints the lanes of this commit and runs nothing
//
// Lanes are data: scripts/ci/lanes.mjs. A run takes those that always run and one slice of the rotation, which the commit determines. A
// lane is skipped when nothing that it reads has changed since a green run on this machine. Each check runs even when an earlier one
// failed; the last line is `N passed, N failed, N skipped`.

import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cacheHome, openKernelCache } from './ci/kernel-cache.mjs';
import { lanes } from './ci/lanes.mjs';
import { Results } from './ci/results.mjs';
import { commit, sliceOf } from './ci/rotation.mjs';
import { root } from './ci/stage.mjs';

const logs = join(root, '.setup', 'logs');

/** Debian's packages beyond those of set-up: other drivers, a browser, and what tests compare with or talk to. */
const PACKAGES = [
  ...['mesa-opencl-icd', 'oclgrind', 'chromium', 'debootstrap', 'qemu-user-static', 'python3-numpy'],
  ...['redis-server', 'iproute2', 'slurmctld', 'slurmd', 'slurm-client', 'munge'],
];

function installPackages() {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args) => spawnSync('apt-get', args, { stdio: 'inherit', env });
  apt('update', '-q');
  apt('install', '-y', '-q', '--no-install-recommends', ...PACKAGES);
}

/** The lanes of a run, in order. */
function chosenLanes({ full, lane: names }, number) {
  const all = lanes();
  const slices = all.filter(({ when }) => when === 'rotation');
  const slice = slices[sliceOf(number, slices.length)];
  const isWanted = ({ name }) => !names || names.some((part) => name.includes(part));
  if (names) return all.filter(isWanted);
  return all.filter((lane) => full || lane.when === 'always' || lane === slice);
}

async function setUp(results) {
  const node = (...args) => [process.execPath, ...args];
  await results.check('set-up', node('scripts/setup.mjs'));
  const again = await results.check('set-up, the second time', node('scripts/setup.mjs'));
  if (/…/.test(again.output)) results.fail('set-up repeated a step that was done', again.output);
  await results.check('lint', ['node_modules/.bin/biome', 'ci', '--colors=off', '.']);
  await results.check('layout of C++ and OpenCL C', node('scripts/format.mjs', '--check'));
  await results.check('types', node('node_modules/typescript/bin/tsc', '-p', '.', '--noEmit'));
  await results.check('the API of the binding is complete', node('scripts/check-opencl-api.mjs'));
}

async function runStep(
  results,
  { name, tests, command, suites, ava, env, minutes, log },
  isBeside,
  cacheEnv,
) {
  const options = { env: { ...cacheEnv, ...env }, minutes, isBeside };
  if (suites) await results.suites(name, ['npm', 'test'], { ...options, minutes: 70 });
  else if (tests) await results.tests(name, tests, { ...options, ava });
  else await results.check(name, command, options);
  if (log) results.expectEmpty(`${name}: what the simulator found`, join(logs, log));
}

async function runLane(results, { steps }, cacheEnv) {
  for (const step of steps) {
    const beside = [step].flat();
    await Promise.all(beside.map((one) => runStep(results, one, beside.length > 1, cacheEnv)));
  }
  const sum = (pattern) => [...output.matchAll(pattern)].reduce((all, [, count]) => all + Number(count), 0);
  const passed = sum(/^\s*(\d+) tests? passed/gm);
  const failed = sum(
    /^\s*(\d+) (?:tests? failed|known failures?|uncaught exceptions?|unhandled rejections?)/gm,
  );
  totals.passed += passed;
  totals.skipped += sum(/^\s*(\d+) tests? skipped/gm);
  const without = failed === 0 && (!ok || passed === 0) ? 1 : 0;
  totals.failed += failed + without;
  if (failed + without > 0) failures.push([name, failedTests(output)]);
  return ok;
}

/** The simulator's exit code is always 0: what it found stands in its log. */
function emptyLog(name, file) {
  const found = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  totals[found === '' ? 'passed' : 'failed']++;
  if (found !== '') failures.push([name, found.slice(0, 4000)]);
}

/** With every check on, the simulator sorts a few hundred keys a second: few tests, all kernels. */
const ON_OCLGRIND = [
  'dist/test/algorithms/*.test.js',
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
  // Of several-groups: what they hand to each other.
  '--match=*look-back*',
  '--match=*tiles each*',
  '--match=*values after keys*',
];

/**
 * The check of uninitialised reads is slower still. It wants unoptimised kernels, and the simulator cannot run
 * what is left when such a kernel's calls are inlined.
 */
const WITH_UNINITIALISED_READS = [
  'dist/test/algorithms/every-algorithm.test.js',
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

/** Dtypes, orders, forms, sizes, distributions and windows against each other, and properties of every sort. */
const WHOLE_SORTS = ['dist/test/full/*.test.js'];

/** Test files that run on every driver, at small sizes. */
const MATRIX = [
  'dist/test/algorithms/**/*.test.js',
  'dist/test/primitives/**/*.test.js',
  'dist/test/explain/explain.test.js',
  'dist/test/bench/ladder/steps.test.js',
  'dist/test/sort/api/{on-device,radix-bits}.test.js',
  'dist/test/sort/backend/survey.test.js',
  'dist/test/sort/calls/on-device.test.js',
  'dist/test/sort/{operations,transfer}/*.test.js',
  ...WHOLE_SORTS,
];

/** Tests of the binding: all, or those of `names`, without those of `without`. */
const bindingTests = ({ names, without = [] }) =>
  readdirSync(join(root, 'dist', 'test', 'opencl'))
    .filter((file) => file.endsWith('.test.js'))
    .map((file) => file.replace('.test.js', ''))
    .filter((name) => (names?.includes(name) ?? true) && !without.includes(name))
    .map((name) => `dist/test/opencl/${name}.test.js`);

/** What says nothing of a driver, or runs the other tests once more under the test layer. */
const ONCE = ['api', 'environment', 'fuzz', 'leaks', 'prebuilt'];
/** What a device without threads of its own may do in another way. */
const OF_THREADS = ['callbacks', 'kernel', 'launches', 'objects', 'release-all', 'svm', 'transfer', 'waits'];
/** What a version of Node and its V8 may do in another way. */
const OF_NODE = [
  ...['arguments', 'array-buffer', 'callbacks', 'environment', 'errors', 'handles', 'host-memory'],
  ...['kernel-argument', 'objects', 'reentrancy', 'roots', 'svm', 'transfer'],
];
/** What the fuzz has under the sanitizers, too: workers, ends of processes, very many waits. */
const NOT_SANITIZED = ['environment', 'examples', 'fuzz', 'leaks', 'prebuilt', 'waits'];

/** Three minutes of random programs, by driver, under the sanitizers, and on other versions of Node. */
const FUZZ = [
  ['on PoCL', 'pocl', 35],
  ['on rusticl', 'rusticl', 30],
  ['on Clover', 'clover', 25],
  ['on Oclgrind', 'oclgrind', 20],
];
const FUZZ_SANITIZED = [
  ['on PoCL', 'pocl', 15],
  ['on rusticl', 'rusticl', 15],
];
const FUZZ_NODES = [
  ['22', 'pocl', 15],
  ['24', 'rusticl', 15],
  ['26', 'pocl', 15],
];
/** As with suites, a crash that does not come again is told, but does not fail; what a sanitizer finds always does. */
const AGAIN = ['--again', '5'];
/** The same programs each time, so that a change is what fails; `node scripts/fuzz.mjs` finds others. */
const fuzz = (device, seconds, ...args) => [
  'scripts/fuzz.mjs',
  ...['--seed', '1000'],
  ...['--device', device, '--seconds', String(seconds), '--shrink', '120', ...args],
];

/** The kernels and the binding on the drivers that are not PoCL's. */
async function onOtherDrivers() {
  for (const device of ['rusticl', 'clover']) {
    await tests(`small sizes on ${device}`, MATRIX, { env: { ...MESA, CLSORT_TEST_DEVICES: device } });
  }
  await check(
    'the matrix of every operation on rusticl and Clover',
    process.execPath,
    [
      'dist/src/cli/main.js',
      'matrix',
      '--device',
      'rusticl',
      'clover',
      '--quick',
      '--only',
      'u32,300',
      '--markdown',
    ],
    { env: MESA, minutes: 5 },
  );
  const logs = join(root, '.setup', 'logs');
  rmSync(logs, { recursive: true, force: true });
  mkdirSync(logs, { recursive: true });
  const [races, reads] = ['races.log', 'uninitialised.log'].map((name) => join(logs, name));
  const raced = { ...OCLGRIND, OCLGRIND_DATA_RACES: '1', OCLGRIND_CHECK_API: '1', OCLGRIND_LOG: races };
  const read = {
    ...OCLGRIND,
    OCLGRIND_UNINITIALIZED: '1',
    CLSORT_PROGRAM_CACHE: 'never', // it knows nothing of the simulator's own options
    OCLGRIND_BUILD_OPTIONS: '-cl-opt-disable -DINLINE=static',
    OCLGRIND_LOG: reads,
  };
  // Each takes one processor for most of its time.
  await Promise.all([
    tests('small sizes on Oclgrind, with race and API checks', ON_OCLGRIND, { env: raced, isBeside: true }),
    tests('small sorts of every kind on Oclgrind', [...WHOLE_SORTS, '--concurrency=1'], {
      env: OCLGRIND,
      isBeside: true,
    }),
    tests('every algorithm on Oclgrind, with uninitialised reads', WITH_UNINITIALISED_READS, {
      env: read,
      isBeside: true,
    }),
  ]);
  emptyLog('Oclgrind found races or wrong calls', races);
  emptyLog('Oclgrind found uninitialised reads', reads);
  for (const [name, env, which = { without: ONCE }] of [
    ["PoCL's basic device", { POCL_DEVICES: 'basic' }, { names: OF_THREADS }],
    ['rusticl', { ...MESA, CLSORT_TEST_DEVICES: 'rusticl' }],
    ['Clover', { ...MESA, CLSORT_TEST_DEVICES: 'clover' }],
    ['Oclgrind', OCLGRIND],
  ]) {
    await tests(`the binding on ${name}`, bindingTests(which), { env });
  }
  const sanitizer = ['scripts/sanitize.mjs'];
  const safe = bindingTests({ without: NOT_SANITIZED });
  await tests('the binding under ASan and UBSan', safe, { command: sanitizer, minutes: 30 });
}

/** Minutes after which addons are built for the oldest and the newest Node alone: for each it takes a slow machine two. */
const LAST_FOR_ALL_NODES_MINUTES = 55;

/** Versions of Node that addons are built for. */
function nodesInTime() {
  if (performance.now() < LAST_FOR_ALL_NODES_MINUTES * 60_000) return ['20', '22', '24', '26'];
  leftOut.push('addons for Node 22 and 24');
  totals.skipped++;
  return ['20', '26'];
}

/** What users get: addons that were built before, the package, its site, and its work on many machines. */
async function asDelivered(nodes) {
  const prebuild = ['scripts/prebuild.mjs'];
  await check('prebuilt addons for Linux x64', process.execPath, [...prebuild, 'linux-x64', ...nodes]);
  await check('the packed package, installed', process.execPath, ['scripts/pack-test.mjs', ...nodes]);
  await check('many machines', process.execPath, ['scripts/many-machines.mjs'], { minutes: 15 });
  await check('the site', process.execPath, ['scripts/docs.mjs', '--check'], { minutes: 10 });
  const versions = ['scripts/node-versions.mjs', '--prebuilt', ...nodes.filter((node) => node !== '20')];
  const ofNode = ['compression', 'zstd-frames'].map((name) => `dist/test/io/${name}.test.js`);
  await tests('the binding on other versions of Node', [...bindingTests({ names: OF_NODE }), ...ofNode], {
    command: versions,
    spare: true,
  });
  // One of the four: they are the same sources, and the newest headers want the most of an old compiler.
  await check('a prebuilt addon for Linux arm64', process.execPath, [...prebuild, 'linux-arm64', '26'], {
    spare: true,
  });
}

/** Random programs, data, faults and hours of work, of each as much as there is time for. */
async function atRandom(nodes) {
  const node = (name, ...args) => check(name, process.execPath, args, { spare: true });
  const beside = (name, ...args) => check(name, process.execPath, args, { spare: true, isBeside: true });
  // At once: how long each takes is given.
  await Promise.all(FUZZ.map(([name, ...args]) => beside(`fuzz ${name}`, ...fuzz(...args, ...AGAIN))));
  await Promise.all(
    FUZZ_SANITIZED.map(([name, ...args]) =>
      beside(`fuzz ${name} under ASan and UBSan`, 'scripts/sanitize.mjs', '--', ...fuzz(...args)),
    ),
  );
  await Promise.all(
    FUZZ_NODES.filter(([version]) => nodes.includes(version)).map(([version, ...args]) =>
      beside(`fuzz on Node ${version}`, ...fuzz(...args, '--node', version, ...AGAIN)),
    ),
  );
  const random = ['--seed', '1000', '--seconds', '25', '--devices', 'host,pocl,rusticl'];
  await node('random operations on random data', 'scripts/fuzz-sorts.mjs', ...random);
  await node('a soak of the binding', 'scripts/soak.mjs', 'binding', '--scale', '0.02');
  const serving = ['scripts/soak.mjs', 'server', '--minutes', '0.17'];
  await node('a soak of a Sorter that serves 64 clients', ...serving);
  // Other types have other programs, of which the tests compile most.
  const gathered = ['--own-memory', '--dtypes', 'u8,f64'];
  await node('the same on a device with memory of its own', ...serving, ...gathered);
  const soaking = ['scripts/soak.mjs', 'devices', '--minutes', '0.2', '--seed', '1000'];
  await node('a soak of two devices', ...soaking);
  // A share of each; `node scripts/mutate.mjs` and `node scripts/compile-vendors.mjs --all` do all of it.
  const faults = ['scripts/mutate.mjs', '--share', '1/14', '--minutes', '1.5'];
  await node('faults that tests have to see', ...faults);
  const compiling = ['scripts/compile-vendors.mjs', '--fetch', '--require', '--most', '14'];
  await node('compilers of vendors', ...compiling);
}

async function main() {
  const { values } = parseArgs({
    options: {
      full: { type: 'boolean', default: false },
      lane: { type: 'string', multiple: true },
      list: { type: 'boolean', default: false },
    },
  });
  const { hash, number } = commit();
  const chosen = chosenLanes(values, number);
  if (values.list) {
    for (const { name, when } of chosen) console.log(`${when.padEnd(9)} ${name}`);
    return 0;
  }
  installPackages();
  process.env.CLSORT_BUILD_CACHE = join(cacheHome(), 'builds');
  const results = new Results();
  await setUp(results);
  rmSync(logs, { recursive: true, force: true });
  mkdirSync(logs, { recursive: true });
  const cache = openKernelCache();
  console.log(
    `\nKernel cache ${cache.key}: ${cache.isWarm ? 'restored' : 'empty, so every kernel is compiled'}`,
  );
  // npm packages are there only since set-up.
  const { GreenLanes, isClean, laneHash } = await import('./ci/unchanged.mjs');
  const green = new GreenLanes();
  const passed = [];
  for (const lane of chosen) {
    const laneKey = isClean() ? laneHash(lane) : undefined;
    const since = laneKey && !values.full && !values.lane ? green.commitOf(laneKey, hash) : undefined;
    if (since) {
      console.log(`\n=== ${lane.name}: unchanged since ${since}`);
      results.skip(`unchanged since ${since}: ${lane.name}`);
      continue;
    }
    const before = results.failed;
    await runLane(results, lane, cache.env);
    if (laneKey && results.failed === before) passed.push(laneKey);
  }
  try {
    green.add(passed, hash);
    if (!results.crashed) cache.publish();
  } catch (error) {
    console.log(`\nThe next run compiles everything again: ${error.message}`);
  }
  return results.print();
}

process.exitCode = await main();
