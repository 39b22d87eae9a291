#!/usr/bin/env node
// Everything that has to hold before a change lands, on a machine with nothing but Node, git and Debian:
//
//   node scripts/ci.mjs
//
// Each check runs even when an earlier one failed; the last line is `N passed, N failed`.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MESA, OCLGRIND } from './drivers.mjs';
import { rootlessEnv } from './rootless.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const ava = ['node_modules/ava/entrypoints/cli.mjs'];
const totals = { passed: 0, failed: 0, skipped: 0 };
/** What failed, said again at the end: the output is long. */
const failures = [];

/** Processor time of all processes that have ended, in seconds: beside the clock it tells a slow machine from a slow suite. */
function processorSeconds() {
  const [, fields] = readFileSync('/proc/self/stat', 'utf8').split(') ');
  const [user, system] = fields.split(' ').slice(13, 15).map(Number);
  return (user + system) / 100;
}

const ESCAPE = String.fromCharCode(27);
const plain = (text) => text.replaceAll(new RegExp(`${ESCAPE}\\[[0-9;]*m`, 'g'), '');

/**
 * Runs a command and shows what it prints.
 *
 * @param isBeside other commands run at the same time: what it prints is shown when it has ended
 */
function run(name, command, args, { env = {}, minutes = 20, isBeside = false } = {}) {
  const title = `\n=== ${name}\n`;
  if (!isBeside) process.stdout.write(title);
  const started = performance.now();
  const before = processorSeconds();
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...rootlessEnv(join(root, '.setup')), ...env },
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), minutes * 60_000);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data) => {
        output += data;
        if (!isBeside) process.stdout.write(data);
      });
    }
    child.on('error', (error) => process.stdout.write(`${error.message}\n`));
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      const ok = code === 0;
      if (isBeside) process.stdout.write(title + output);
      const processors = `${(processorSeconds() - before).toFixed(1)} s of the processors`;
      process.stdout.write(
        `--- ${name}: ${ok ? 'ok' : `FAILED (${signal ?? `exit code ${code}`})`} after ${seconds} s, ` +
          `${isBeside ? `${processors}, with what ran beside it` : processors}\n`,
      );
      resolve({ ok, output: plain(output) });
    });
  });
}

const lastLines = (text, count) => text.trimEnd().split('\n').slice(-count).join('\n');

/** The lines of failed tests as they came, and the details that ava gives at the end of its output. */
function failedTests(output) {
  const lines = output.split('\n').filter((line) => /^\s*✘/.test(line));
  const [, ...details] = output.split(/^\s*─$/m);
  return [...lines, lastLines(details.length > 0 ? details.join('─') : output, 200)].join('\n');
}

/**
 * Minutes after which nothing `spare` is begun: all of it has to end within 90, and some machines take three times as long as
 * others. What is spare tries at random what the tests try one by one, or a share of what runs in whole before a release.
 */
const LAST_SPARE_MINUTES = 72;
/** Minutes after which nothing at all is begun, since it would not end in time: what comes last is what changes least. */
const LAST_MINUTES = 80;
/** What was left out for that, which counts as skipped. */
const leftOut = [];

function isLeftOut(name, { spare = false } = {}) {
  const last = spare ? LAST_SPARE_MINUTES : LAST_MINUTES;
  if (performance.now() < last * 60_000) return false;
  leftOut.push(name);
  totals.skipped++;
  return true;
}

/** A check that holds or does not: counts as one. */
async function check(name, command, args, options) {
  if (isLeftOut(name, options)) return { ok: true, output: '' };
  const result = await run(name, command, args, options);
  totals[result.ok ? 'passed' : 'failed']++;
  if (!result.ok) failures.push([name, lastLines(result.output, 60)]);
  return result;
}

/** Suites in which a process crashed or hung, and that were run once more. */
const repeated = [];

/** No suite is run once more that would end later than so many minutes after the beginning. */
const LAST_REPEAT_MINUTES = 60;

/**
 * A run of the test suite: counts its tests. One that fails without a failed test, since a process crashed or
 * hung, which drivers do now and then, is run once more and told at the end; when it does so again, it counts
 * as one.
 */
async function tests(name, files, options = {}, again = true) {
  const { command = ava, ...rest } = options;
  if (isLeftOut(name, rest)) return true;
  const started = performance.now();
  const { ok, output } = await run(name, process.execPath, [...command, ...files], rest);
  const ended = performance.now();
  const early = ended + (ended - started) < LAST_REPEAT_MINUTES * 60_000;
  if (again && early && !ok && !/^\s*\d+ tests? failed/m.test(output)) {
    repeated.push([name, failedTests(output)]);
    return tests(name, files, options, false);
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
  'dist/test/sort/api/{device-array,radix-bits,reuse}.test.js',
  'dist/test/sort/backend/survey.test.js',
  'dist/test/sort/calls/{call,chunked,link}.test.js',
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
  const apt = (...args) =>
    spawnSync('apt-get', args, {
      stdio: 'inherit',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  apt('update', '-q');
  const packages = [
    ...['mesa-opencl-icd', 'oclgrind', 'chromium', 'debootstrap', 'qemu-user-static'],
    'python3-numpy', // a peer of the benchmarks, whose tests are skipped without it
    ...['redis-server', 'iproute2', 'slurmctld', 'slurmd', 'slurm-client', 'munge'], // for sorts over many machines
  ];
  apt('install', '-y', '-q', '--no-install-recommends', ...packages);
  await check('set-up', process.execPath, ['scripts/setup.mjs']);
  const again = await check('set-up, the second time', process.execPath, ['scripts/setup.mjs']);
  if (/…/.test(again.output)) {
    totals.failed++;
    failures.push(['set-up did something again that was done already', lastLines(again.output, 60)]);
  }
  await check('lint', 'node_modules/.bin/biome', ['ci', '--colors=off', '.']);
  await check('layout of C++ and OpenCL C', process.execPath, ['scripts/format.mjs', '--check']);
  await check('types', process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.', '--noEmit']);
  await check('the API is complete', process.execPath, ['scripts/check-opencl-api.mjs']);
  await tests('npm test', [], {
    minutes: 65,
    env: { CLSORT_REQUIRE_BROWSER: '1', CLSORT_REQUIRE_NUMPY: '1', CLSORT_REQUIRE_REDIS: '1' },
  });
  await onOtherDrivers();
  const nodes = nodesInTime();
  await asDelivered(nodes);
  await atRandom(nodes);
  for (const [name, details] of repeated) {
    process.stdout.write(
      `\n=== A PROCESS CRASHED OR HUNG, then the suite was run once more: ${name}\n${details}\n`,
    );
  }
  for (const [name, details] of failures) process.stdout.write(`\n=== FAILED: ${name}\n${details}\n`);
  for (const name of leftOut) process.stdout.write(`\nLEFT OUT on this slow machine: ${name}\n`);
  // Each tells its reason where it stands, and runs on another driver or machine.
  process.stdout.write(`\n${totals.skipped} skipped\n`);
  process.stdout.write(`\n${totals.passed} passed, ${totals.failed} failed\n`);
  process.exitCode = totals.failed === 0 && totals.passed > 0 ? 0 : 1;
}

await main();
