#!/usr/bin/env node
// Runs all checks required before a change lands, on a machine with nothing but Node, git and Debian:
//
//   node scripts/ci.mjs [--full] [--lane NAME …] [--list]
//
//   --full  all lanes, with all combinations and mutants; takes hours
//   --lane  only lanes whose name contains this
//   --list  prints the lanes of this commit and runs nothing
//
// Lanes are data: scripts/ci/lanes.mjs. A run takes the lanes that always run and one slice of the rotation, which the
// commit determines. A lane is skipped when none of its inputs has changed since a green run on this machine. A failed
// check does not stop the others. The last line is `N passed, N failed, N skipped`.

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

/**
 * Debian packages beyond those of setup: other drivers, a browser, and programs that tests compare with or connect to.
 */
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

/** Returns the lanes of a run, in order. */
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
  await results.check('prose', node('scripts/prose.mjs'));
  await results.check('structure of src', node('scripts/house.mjs', '--check'));
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
  // npm packages exist only after setup.
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
