import { type ChildProcess, spawn } from 'node:child_process';
import test from 'ava';
import type { DeviceInfo } from '../../src/device/platform.js';
import { matrixCases } from '../../src/matrix/case.js';
import { deviceMatrix } from '../../src/matrix/matrix.js';
import { isBad, type MatrixRow } from '../../src/matrix/row.js';

const device = { platform: 'P', name: 'D', driver: '1' } as DeviceInfo;
const scope = {
  quick: true,
  maxKeys: 100,
  algorithms: ['amd'],
  dtypes: ['u32', 'f32', 'u64'],
} as const;
const cases = matrixCases(scope);

/** A child that reports cases as ok until `fatal`, where it does `what`. */
const child =
  (what: string, fatal: number) =>
  (_: DeviceInfo, from: number): ChildProcess =>
    spawn(process.execPath, [
      '-e',
      `for (let i = ${from}; i < ${cases.length}; i++) {
       if (i === ${fatal}) { ${what} }
       console.log(JSON.stringify({ row: { n: i, outcome: 'ok' } }));
     }`,
    ]);

async function rows(launch: (device: DeviceInfo, from: number) => ChildProcess): Promise<MatrixRow[]> {
  const all: MatrixRow[] = [];
  for await (const row of deviceMatrix(device, { ...scope, caseTimeout: 10, launch })) all.push(row);
  return all;
}

test('cases cover algorithms, dtypes and sizes, each with its own seed', (t) => {
  const all = matrixCases({ quick: false, maxKeys: 1e6 });
  t.is(new Set(all.map(({ seed }) => seed)).size, all.length);
  t.true(all.some(({ n, form, descending }) => n === 65_537 && form === 'pairs' && descending));
  t.deepEqual([...new Set(cases.map(({ n }) => n))], [33, 100]);
});

test('a driver that crashes loses the row it was at, and the rest go on', async (t) => {
  const all = await rows(child('process.abort();', 2));
  t.is(all.length, cases.length);
  t.deepEqual(
    all.map(({ outcome }) => outcome),
    cases.map((_, i) => (i === 2 ? 'crash' : 'ok')),
  );
  t.regex(all[2]?.reason ?? '', /SIGABRT/);
  t.is(all[2]?.dtype, cases[2]?.dtype);
});

test('a driver that hangs is killed and gets a timeout row', async (t) => {
  const all = await rows(child('while (true);', 1));
  t.is(all[1]?.outcome, 'timeout');
  t.is(all.filter(isBad).length, 1);
  t.is(all.length, cases.length);
});

test('a child that ends early without a word is a crash, not a success', async (t) => {
  const all = await rows(child('process.exit(0);', 4));
  t.is(all[4]?.outcome, 'crash');
});

test('a signal kills the child that runs and ends the rows', async (t) => {
  const controller = new AbortController();
  const ended: (NodeJS.Signals | null)[] = [];
  const launch = (_: DeviceInfo, from: number): ChildProcess => {
    const one = child('while (true);', 1)(_, from);
    one.once('exit', (_code, signal) => ended.push(signal));
    return one;
  };
  const all: MatrixRow[] = [];
  const options = { ...scope, caseTimeout: 600, launch, signal: controller.signal };
  for await (const row of deviceMatrix(device, options)) {
    all.push(row);
    controller.abort();
  }
  t.deepEqual(
    all.map(({ outcome }) => outcome),
    ['ok'],
  );
  t.deepEqual(ended, ['SIGKILL']);
});
