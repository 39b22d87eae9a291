#!/usr/bin/env node
// Compares operations on random keys with NumPy: all dtypes, ties, NaNs, zeros of either sign, host and device arrays:
//
//   node scripts/compare-numpy.mjs [--device NAME] [--cases N] [--operations NAME,…] [--seed N] [--keys N] [--json FILE]
//
//   --device      host, a device spec, or a driver of tests: rusticl, clover, oclgrind; default host
//   --cases       random cases of each operation; default 1000
//   --operations  default: all
//   --keys        limit of the number of keys of an array; default 5000, on drivers of tests 300
//   --python      a Python with NumPy; default python3
//   --json        adds the run to this file, in the place of an earlier one of the same device
//
// Prints a line for each operation, and the first faults. The exit code is 1 if there are any. Needs `npm run build`.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { driverEnv } from './drivers.mjs';

const { values } = parseArgs({
  options: {
    device: { type: 'string', default: 'host' },
    cases: { type: 'string', default: '1000' },
    operations: { type: 'string' },
    seed: { type: 'string', default: '1' },
    keys: { type: 'string' },
    python: { type: 'string', default: 'python3' },
    json: { type: 'string' },
  },
});
const env = driverEnv(values.device);
// The driver is loaded by the first call, and reads its environment then.
Object.assign(process.env, env);
const keys = Number(values.keys ?? (Object.keys(env).length > 0 ? 300 : 5000));
const [count, seed] = [Number(values.cases), BigInt(values.seed)];
if (!(count > 0 && keys > 0)) throw new RangeError('--cases and --keys need numbers above 0');

const { Sorter } = await import('../dist/src/index.js');
const { COMPARISONS, compareWithNumPy, numPyResults, randomCases } = await import(
  '../dist/scripts/peers/reference.js'
);

/** Faults to print for each operation. */
const SHOWN = 3;
const names = values.operations?.split(',') ?? Object.keys(COMPARISONS);
const numpy = execFileSync(values.python, ['-c', 'import numpy; print(numpy.__version__)']).toString().trim();
const cases = randomCases(count, keys, seed);
const operations = [];
const sorter = await Sorter.open({ device: values.device });
/** Writes the run so far: simulators take hours. */
function save(file) {
  const { name = 'host', platform, driver } = sorter.device ?? {};
  const date = new Date().toISOString().slice(0, 10);
  const run = { device: name, platform, driver, date, numpy, seed: values.seed, keys, operations };
  const earlier = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).runs : [];
  const runs = [...earlier.filter((one) => one.device !== name || one.platform !== platform), run];
  writeFileSync(file, `${JSON.stringify({ schema: 'clsort.compare-numpy/1', runs }, null, 1)}\n`);
}

for (const operation of names) {
  if (!Object.hasOwn(COMPARISONS, operation)) throw new RangeError(`no operation '${operation}'`);
  const expected = numPyResults(values.python, operation, cases);
  const faults = await compareWithNumPy(sorter, operation, cases, expected);
  operations.push({ operation, cases: cases.length, faults: faults.length });
  console.log(`${operation}: ${cases.length} cases, ${faults.length} faults`);
  for (const fault of faults.slice(0, SHOWN)) console.log(`  ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
  if (values.json) save(values.json);
}
await sorter.close();
