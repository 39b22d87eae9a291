#!/usr/bin/env node
// Measures what each heuristic of docs/contributing/POLICY.md gains:
//
//   node scripts/bench-policy.mjs [--device SPEC] [--rounds N] [NAME …]
//
//   --device  device of the calls; default: cpu
//   --rounds  processes with and without each heuristic, in turns; default: 3
//   NAME      heuristics to switch off; default: all
//
// Prints a table: the shortest time of each call, and those without each heuristic as multiples of it. A heuristic
// whose row has no value of 1.1 or more gains less than 10 % in these calls.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const WARM_UP_MS = 250;
const TIMED_MS = 500;

/** Times calls in this process. @returns the least microseconds of each: other programs only add to them */
async function measure(device) {
  const { Sorter } = await import('../dist/src/index.js');
  const sorter = await Sorter.open({ device, onWarning: () => undefined });
  const keys = (log) => Uint32Array.from({ length: 2 ** log }, (_, i) => Math.imul(i, 0x9e3779b1));
  const [host16, host20, host22] = [16, 20, 22].map(keys);
  const [device12, device14, device16, device20] = await Promise.all(
    [12, 14, 16, 20].map((log) => sorter.upload(keys(log))),
  );
  const [few20, others20] = [1000, 700].map((range) => host20.map((key) => key % range));
  const arrays = Array.from({ length: 1000 }, () => host16.subarray(0, 1000));
  const chain = (call) => Promise.all(Array.from({ length: 20 }, call));
  const calls = {
    'device 2^14': () => sorter.sort(device14),
    'device 2^16': () => sorter.sort(device16),
    'device 2^20': () => sorter.sort(device20),
    '20 × device 2^16': () => chain(() => sorter.sort(device16)),
    'host 2^16': () => sorter.sort(host16),
    'host 2^20': () => sorter.sort(host20),
    'host 2^22': () => sorter.sort(host22),
    '20 × host 2^16': () => chain(() => sorter.sort(host16)),
    'topK device 2^20': () => sorter.topK(device20, 100),
    'topK host 2^20': () => sorter.topK(host20, 100),
    'isIn host 2^20': () => sorter.isIn(few20, others20),
    'isIn device 2^12': () => sorter.isIn(device12, device12),
    'sortMany 1000 × 1000': () => sorter.sortMany(arrays),
  };
  const times = {};
  for (const [name, call] of Object.entries(calls)) {
    const timesOf = async (ms) => {
      const own = [];
      const end = performance.now() + ms;
      do {
        const start = performance.now();
        await call();
        own.push(performance.now() - start);
      } while (performance.now() < end);
      return own;
    };
    await timesOf(WARM_UP_MS);
    times[name] = 1e3 * Math.min(...(await timesOf(TIMED_MS)));
  }
  await sorter.close();
  return times;
}

function inProcess(device, policies) {
  const args = [fileURLToPath(import.meta.url), '--measure', '--device', device];
  const env = { ...process.env, CLSORT_POLICY: policies.map((name) => `${name}=off`).join(',') };
  return JSON.parse(execFileSync(process.execPath, args, { env, encoding: 'utf8' }));
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    device: { type: 'string', default: 'cpu' },
    rounds: { type: 'string', default: '3' },
    measure: { type: 'boolean', default: false },
  },
});
if (values.measure) {
  console.log(JSON.stringify(await measure(values.device)));
} else {
  const listed = readFileSync(new URL('../docs/contributing/POLICY.md', import.meta.url), 'utf8');
  const names =
    positionals.length > 0 ? positionals : [...listed.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  const rounds = Array.from({ length: Number(values.rounds) }, () =>
    ['', ...names].map((name) => inProcess(values.device, name === '' ? [] : [name])),
  );
  const timeOf = (i, call) => Math.min(...rounds.map((round) => round[i][call]));
  const calls = Object.keys(rounds[0][0]);
  console.log(`| | ${calls.join(' | ')} |\n|---|${calls.map(() => '---').join('|')}|`);
  console.log(`| with all, µs | ${calls.map((call) => timeOf(0, call).toFixed(0)).join(' | ')} |`);
  names.forEach((name, i) => {
    const factors = calls.map((call) => (timeOf(i + 1, call) / timeOf(0, call)).toFixed(2));
    console.log(`| without ${name}, × | ${factors.join(' | ')} |`);
  });
}
