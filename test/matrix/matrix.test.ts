import { type ChildProcess, spawn } from 'node:child_process';
import test from 'ava';
import { type MatrixScope, matrixCases } from '../../src/matrix/case.js';
import { readFilter } from '../../src/matrix/filter.js';
import { deviceMatrix } from '../../src/matrix/matrix.js';
import { isBad, type MatrixRow } from '../../src/matrix/row.js';

const device = { platform: 'P', name: 'D', driver: '1' };
const scope: MatrixScope = {
  level: 'quick',
  seed: '1',
  maxKeys: 100,
  filters: [readFilter('sort,amd,u32|f32|u64')],
};
const cases = matrixCases(scope);

/** A subprocess that reports cases as ok until `fatal`, where it does `what`. */
const child =
  (what: string, fatal: number) =>
  (from: number): ChildProcess =>
    spawn(process.execPath, [
      '-e',
      `for (let i = ${from}; i < ${cases.length}; i++) {
       console.log('a driver says something');
       console.log(JSON.stringify({ begins: 'plan ' + i }));
       if (i === ${fatal}) { ${what} }
       console.log(JSON.stringify({ row: { n: i, outcome: 'ok' } }));
     }`,
    ]);

async function rows(launch: (from: number) => ChildProcess): Promise<MatrixRow[]> {
  const all: MatrixRow[] = [];
  for await (const row of deviceMatrix(device, cases, { caseTimeout: 10, launch })) all.push(row);
  return all;
}

test('cases cover operations, algorithms, sizes and orders, with one seed per dtype and size', (t) => {
  const all = matrixCases({ level: 'default', seed: '1', maxKeys: 1e6, filters: [] });
  t.true(
    all.some(
      ({ n, operation, order }) => n === 65_537 && operation === 'sortPairs' && order === 'descending',
    ),
  );
  t.true(all.some(({ operation, algorithm }) => operation === 'gather' && algorithm === 'none'));
  t.false(all.some(({ operation, n }) => operation === 'reduce-min' && n === 0));
  t.deepEqual([...new Set(cases.map(({ n }) => n))], [33, 100], 'no size is above the limit of a simulator');
  const keys = new Map(all.map(({ dtype, n, seed }) => [`${dtype} ${n}`, seed]));
  t.true(all.every(({ dtype, n, seed }) => keys.get(`${dtype} ${n}`) === seed));
  t.is(new Set(keys.values()).size, keys.size);
  t.not(matrixCases({ ...scope, seed: '2' })[0]?.seed, cases[0]?.seed);
});

test('a filter leaves the remaining cases unchanged', (t) => {
  const all = matrixCases({ ...scope, filters: [] }).map((one) => JSON.stringify(one));
  for (const one of cases) t.true(all.includes(JSON.stringify(one)), JSON.stringify(one));
});

test('each higher level adds keys and orders', (t) => {
  const [quick, plain, full] = (['quick', 'default', 'full'] as const).map((level) =>
    matrixCases({ level, seed: '1', maxKeys: 2 ** 21, filters: [] }),
  ) as [typeof cases, typeof cases, typeof cases];
  t.true(quick.length < plain.length && plain.length < full.length);
  t.true(
    full.some(({ n, keys, order }) => n > 2 ** 20 && keys === 'few' && order === 'descending-nan-first'),
  );
  t.false(
    full.some(({ dtype, order }) => dtype === 'u32' && order === 'nan-first'),
    'integers have no NaN',
  );
  const dtypes = ({ length }: typeof cases) => length;
  t.is(
    dtypes(quick.filter(({ operation, algorithm }) => operation === 'argsort' && algorithm !== 'auto')),
    0,
  );
});

test('a driver crash fails only the current case, and the remaining cases run', async (t) => {
  const all = await rows(
    child("console.error('it burns'); process.kill(process.pid, 'SIGABRT'); while (true);", 2),
  );
  t.is(all.length, cases.length);
  t.deepEqual(
    all.map(({ outcome }) => outcome),
    cases.map((_, i) => (i === 2 ? 'crash' : 'ok')),
  );
  t.regex(all[2]?.reason ?? '', /SIGABRT.*it burns/s);
  t.is(all[2]?.dtype, cases[2]?.dtype);
  t.is(all[2]?.plan, 'plan 2', 'the plan of the crashed case');
});

test('a driver that hangs is killed and gets a timeout row', async (t) => {
  const all = await rows(child('while (true);', 1));
  t.is(all[1]?.outcome, 'timeout');
  t.true((all[1]?.seconds ?? 0) >= 9);
  t.is(all.filter(isBad).length, 1);
  t.is(all.length, cases.length);
});

test('a child that exits early with code 0 counts as a crash', async (t) => {
  const all = await rows(child('process.exit(0);', 4));
  t.is(all[4]?.outcome, 'crash');
});

test('an abort signal kills the running child and ends the rows', async (t) => {
  const controller = new AbortController();
  const ended: (NodeJS.Signals | null)[] = [];
  const launch = (from: number): ChildProcess => {
    const one = child('while (true);', 1)(from);
    one.once('exit', (_code, signal) => ended.push(signal));
    return one;
  };
  const all: MatrixRow[] = [];
  const options = { caseTimeout: 600, launch, signal: controller.signal };
  for await (const row of deviceMatrix(device, cases, options)) {
    all.push(row);
    controller.abort();
  }
  t.deepEqual(
    all.map(({ outcome }) => outcome),
    ['ok'],
  );
  t.deepEqual(ended, ['SIGKILL']);
});
