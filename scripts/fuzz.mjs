#!/usr/bin/env node
// Fuzzes the binding with random programs of calls, each session in a separate process, and prints crashes, hangs and
// violations of the binding's guarantees, shrunk to few calls:
//
//   node scripts/fuzz.mjs [--seconds N | --sessions N] [--seed S] [--device NAME,…] [--replay SEED] [--stack]
//
//   --seconds  time during which sessions are started, for all devices together; default 60
//   --sessions number of sessions per device instead of a duration: the same work on every machine
//   --seed     seed of the first session; default: random, and printed
//   --device   names of CLSORT_TEST_DEVICES, each for an equal share of the time; default pocl
//   --replay   runs the session of a finding, and shrinks it
//   --length   approximate number of steps of a program; default 80
//   --without  calls to exclude, to get past known findings; $trap for code that runs while arguments are
//              read, $wrong for wrong arguments
//   --jobs     concurrent sessions; default 1
//   --shrink   seconds spent on shrinking one finding; default 60
//   --node     runs the programs on this version of Node, such as 22, with the prebuilt addon; default: this Node
//   --again    number of repetitions of a session with a finding: a finding that never recurs is reported but does
//              not count, unless there are two of them. Drivers crash occasionally; by default every finding counts
//   --stack    runs a shrunk finding again under gdb, and prints the stack of each thread
//
// Needs `npm run build`. Under the sanitizers: node scripts/sanitize.mjs -- scripts/fuzz.mjs …

import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { attempt, describe, shrink } from '../dist/test/opencl/fuzz/hunt.js';
import { driverEnv } from './drivers.mjs';
import { fetchNode } from './node-releases.mjs';
import { prebuiltAddon } from './prebuilds.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    sessions: { type: 'string' },
    seed: { type: 'string' },
    device: { type: 'string', default: 'pocl' },
    replay: { type: 'string' },
    length: { type: 'string', default: '80' },
    without: { type: 'string' },
    jobs: { type: 'string', default: '1' },
    shrink: { type: 'string', default: '60' },
    again: { type: 'string', default: '0' },
    stack: { type: 'boolean', default: false },
    node: { type: 'string' },
  },
});
const home = values.node && fetchNode(values.node);
const platform = `linux-${process.arch}`;
const addon = home && prebuiltAddon(root, { platform, version: values.node });
/** Returns whether programs run slowly: under sanitizers, or on the simulator. */
const isSlow = (device) => device === 'oclgrind' || (process.env.LD_PRELOAD ?? '').includes('asan');

const huntOn = (device) => ({
  device,
  env: { ...driverEnv(device), ...(addon ? { CLSORT_ADDON: addon } : {}) },
  shape: { length: Number(values.length), without: values.without ? values.without.split(',') : [] },
  patience: isSlow(device) ? 120_000 : 45_000,
  ...(home ? { node: join(home, 'bin', 'node') } : {}),
});

/** Findings by kind and place, so that the same fault is shrunk once. */
const findings = new Map();
const totals = { sessions: 0, succeeded: 0, refused: 0 };

/** Findings that did not recur. */
const once = [];

/** Returns whether a session fails again; always true without --again. */
async function comesAgain(seed, hunt) {
  const times = Number(values.again);
  for (let i = 0; i < times; i++) if ((await attempt(hunt, seed)).finding) return true;
  return times === 0;
}

async function found(finding, hunt) {
  const name = `${finding.device}: ${finding.signature} in ${finding.last.replace(/^s\d+ = /, '').replace(/\(.*/s, '')}`;
  const known = findings.get(name);
  if (known) return void known.push(finding.seed);
  if (!(await comesAgain(finding.seed, hunt))) {
    console.log(describe(finding, hunt));
    return void once.push(`${name}; seed ${finding.seed}`);
  }
  findings.set(name, [finding.seed]);
  const smallest = await shrink(hunt, finding, performance.now() + Number(values.shrink) * 1000);
  console.log(describe(smallest, hunt));
  if (values.stack) {
    const { finding: again } = await attempt({ ...hunt, debugger: true }, smallest.seed, smallest.keep);
    console.log(again?.stderr ?? 'it did not fail under the debugger');
  }
}

async function runSession(seed, hunt) {
  const { finding, succeeded, refused } = await attempt(hunt, seed);
  totals.sessions++;
  totals.succeeded += succeeded;
  totals.refused += refused;
  if (finding) await found(finding, hunt);
}

async function hunt(device, seconds, first) {
  const of = huntOn(device);
  const end = performance.now() + seconds * 1000;
  const last = values.sessions === undefined ? undefined : first + Number(values.sessions);
  let next = first;
  const isMore = () => (last === undefined ? performance.now() < end : next < last);
  const one = async () => {
    while (isMore()) await runSession(next++, of);
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, one));
  console.log(`${device}: seeds ${first} to ${next - 1}`);
}

const devices = values.device.split(',');
const seed = Number(values.replay ?? values.seed ?? randomInt(2 ** 40));
if (values.replay !== undefined) {
  for (const device of devices) await runSession(seed, huntOn(device));
} else {
  const again = Object.entries({ ...values, seed }).map(([name, value]) =>
    value ? ` --${name} '${value}'` : '',
  );
  console.log(`node scripts/fuzz.mjs${again.join('')}`);
  for (const device of devices) await hunt(device, Number(values.seconds) / devices.length, seed);
}
const { sessions, succeeded, refused } = totals;
console.log(`${sessions} sessions, ${succeeded} calls that succeeded, ${refused} that were refused`);
for (const [name, seeds] of findings)
  console.log(`${seeds.length} × ${name}; seeds ${seeds.slice(0, 8).join(' ')}`);
for (const name of once) console.log(`once, and not in ${values.again} more runs: ${name}`);
const counted = findings.size + (once.length > 1 ? once.length : 0);
console.log(`${counted} findings`);
process.exitCode = counted === 0 && sessions > 0 ? 0 : 1;
