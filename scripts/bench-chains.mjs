#!/usr/bin/env node
// Measures chains of calls on device arrays without waiting in between: the time until the last call was made, the
// total time, and the kernel time of the same chain, which shows how busy the device was. The results of one chain of
// different calls are compared.
//
//   node scripts/bench-chains.mjs [--device auto] [--log2 22] [--calls 50] [--rounds 25] [--json FILE]
//
// Measurement starts after each chain has run for a second, when V8 has optimized the code.

import { writeFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { timing } from '../dist/src/bench/statistics.js';
import { Queue } from '../dist/src/device/queue/queue.js';
import { Sorter } from '../dist/src/index.js';
import { Random } from '../dist/src/util/random.js';

const { values } = parseArgs({
  options: {
    device: { type: 'string', default: 'all' },
    log2: { type: 'string', default: '22' },
    calls: { type: 'string', default: '50' },
    rounds: { type: 'string', default: '25' },
    json: { type: 'string' },
  },
});
const [log2, calls, rounds] = [values.log2, values.calls, values.rounds].map(Number);
if (!(log2 > 0) || !(calls > 0) || !(rounds > 0)) {
  console.error('expected positive numbers');
  process.exit(2);
}
const n = 2 ** log2;
const WARM_UP_MILLISECONDS = 1000;

/** The Sorter's private queue, captured when a call is profiled. */
let queue;
const startProfile = Queue.prototype.startProfile;
Queue.prototype.startProfile = function (...given) {
  queue = this;
  return startProfile.apply(this, given);
};

const random = new Random(1);
const keys = Uint32Array.from({ length: n }, () => random.u32());
const indices = Uint32Array.from(keys.keys());
for (let i = n - 1; i > 0; i--) {
  const j = random.below(i + 1);
  [indices[i], indices[j]] = [indices[j], indices[i]];
}

const sorter = await Sorter.open({ device: values.device });
if (!sorter.device) throw new Error('expected a device: the host engine waits for each call');
const [k, at] = await Promise.all([sorter.upload(keys), sorter.upload(indices)]);
const operations = {
  sort: () => sorter.sort(k),
  argsort: () => sorter.argsort(k),
  gather: () => sorter.gather(k, at),
};
const turns = Object.values(operations);
const chains = {
  ...operations,
  'sort, argsort, gather in turns': (i) => turns[i % turns.length](),
};
const chain = (call) => Array.from({ length: calls }, (_, i) => call(i));
const disposeAll = (arrays) => {
  for (const array of arrays) array.dispose();
};

async function timed(call) {
  const started = performance.now();
  const made = chain(call);
  const enqueued = performance.now() - started;
  const results = await Promise.all(made);
  const all = performance.now() - started;
  disposeAll(results);
  await setImmediate();
  return { enqueued, all };
}

async function kernelsOf(call) {
  await sorter.reduce(k, 'sum'); // no other work is pending
  queue.startProfile(true);
  const made = chain(call);
  const take = queue.takeProfile();
  const results = await Promise.all(made);
  await sorter.reduce(k, 'sum');
  disposeAll(results);
  return take().reduce((sum, { seconds }) => sum + (seconds ?? 0), 0) * 1000;
}

/**
 * Compares the results of a chain.
 *
 * @throws Error when a result is wrong
 */
async function compare() {
  const results = await Promise.all(chain(chains['sort, argsort, gather in turns']));
  const sorted = keys.toSorted();
  const gathered = indices.map((i) => keys[i]);
  for (const [i, result] of results.entries()) {
    const call = turns[i % turns.length];
    const read = await result.read();
    const got = call === operations.argsort ? read.map((position) => keys[position]) : read;
    const right = call === operations.gather ? gathered : sorted;
    if (Buffer.compare(Buffer.from(got.buffer), Buffer.from(right.buffer)) !== 0) {
      throw new Error(`result ${i} of a chain is wrong`);
    }
  }
  disposeAll(results);
}

try {
  for (const call of Object.values(chains)) {
    const until = performance.now() + WARM_UP_MILLISECONDS;
    while (performance.now() < until) await timed(call);
  }
  const rows = [];
  for (const [operation, call] of Object.entries(chains)) {
    const times = [];
    for (let i = 0; i < rounds; i++) times.push(await timed(call));
    rows.push({
      operation,
      n,
      calls,
      milliseconds: timing(times.map(({ all }) => all)).median,
      leastMilliseconds: Math.min(...times.map(({ all }) => all)),
      enqueuedAfterMilliseconds: timing(times.map(({ enqueued }) => enqueued)).median,
    });
  }
  // Drivers take longer for commands with profiling, so all other measurements come first.
  (await sorter.sort(k, { profile: true, onReport: () => undefined })).dispose();
  for (const row of rows) row.kernelMilliseconds = await kernelsOf(chains[row.operation]);
  await compare();
  console.log(`${calls} calls of 2^${log2} keys on ${sorter.device.name}, every result right`);
  for (const {
    operation,
    milliseconds,
    leastMilliseconds,
    enqueuedAfterMilliseconds,
    kernelMilliseconds,
  } of rows) {
    const busy = ((100 * kernelMilliseconds) / milliseconds).toFixed(1);
    console.log(
      `${operation.padEnd(31)} ${milliseconds.toFixed(2)} ms (least ${leastMilliseconds.toFixed(2)}, enqueued after ` +
        `${enqueuedAfterMilliseconds.toFixed(2)}), kernels ${kernelMilliseconds.toFixed(2)} ms: ${busy} %`,
    );
  }
  if (values.json) writeFileSync(values.json, `${JSON.stringify(rows, null, 1)}\n`);
} finally {
  await sorter.close();
}
