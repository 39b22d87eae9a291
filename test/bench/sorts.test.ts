import { channel } from 'node:diagnostics_channel';
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'ava';
import { csv, markdown, svg } from '../../src/bench/format.js';
import {
  measureSort,
  minTrafficBytes,
  regressions,
  SORT_SCHEMA,
  type SortBench,
  type SortBenches,
  type SortCase,
  type SortRow,
  type SortRunner,
} from '../../src/bench/sorts.js';
import { isSlower, timing } from '../../src/bench/statistics.js';
import type { SortReport } from '../../src/sort/model/report.js';
import { MismatchError, UnsupportedError } from '../../src/util/errors.js';
import { clsort, scratchFolder } from '../cli/cli.js';
import { poclNames } from '../pocl-names.js';

const sort: SortCase = { algorithm: 'fake', dtype: 'u8', mode: 'keys', distribution: 'uniform', n: 100 };

const report: SortReport = {
  n: 100,
  dtype: 'u8',
  device: { name: 'fake', type: 'cpu' },
  algorithm: 'fake',
  reason: 'asked for',
  bitRange: [0, 8],
  stages: [
    { stage: 'upload', seconds: 8, launches: 1 },
    { stage: 'count', seconds: 1, launches: 1 },
    { stage: 'scatter', seconds: 3, launches: 1 },
  ],
  seconds: 20,
};

const right: SortRunner = async (_, keys) => ({ result: keys.toSorted(), report });

test('the median and its deviation ignore one slow repetition', (t) => {
  t.deepEqual(timing([3, 1, 2, 100, 2]), { median: 2, mad: 1 });
  t.deepEqual(timing([1, 2]), { median: 1.5, mad: 0.5 });
});

test('a run is slower if it exceeds the baseline by 5 % and three deviations of both runs', (t) => {
  t.false(isSlower({ median: 1, mad: 0 }, { median: 1.04, mad: 0 }));
  t.true(isSlower({ median: 1, mad: 0 }, { median: 1.06, mad: 0 }));
  t.false(isSlower({ median: 1, mad: 0.1 }, { median: 1.2, mad: 0 }));
  t.false(isSlower({ median: 1, mad: 0 }, { median: 0.5, mad: 0 }));
});

test('a correct sort gets its kernel time without transfers, and rates from that time', async (t) => {
  const row = await measureSort(sort, right, right, { repeats: 2, copyBytesPerSecond: 150 });
  t.deepEqual(row, {
    ...sort,
    result: 'ok',
    checked: 'reference',
    kernel: { median: 4, mad: 0 },
    endToEnd: { median: 20, mad: 0 },
    keysPerSecond: 25,
    bytesPerSecond: 75,
    copyShare: 0.5,
  });
});

test.serial('a row has the time in which its first call compiled programs', async (t) => {
  let seconds = 3;
  const compiling: typeof right = (...args) => {
    channel('clsort:preparation').publish({ step: 'build', subject: 'a program', seconds });
    channel('clsort:preparation').publish({ step: 'self-test', subject: 'a kernel', seconds });
    seconds = 5; // later calls do not count
    return right(...args);
  };
  const { compileSeconds } = await measureSort(sort, compiling, right, { repeats: 2 });
  t.is(compileSeconds, 3);
});

test('a wrong sort is reported as wrong and without a time', async (t) => {
  const wrong: SortRunner = async (_, keys) => ({ result: keys, report });
  t.deepEqual(await measureSort(sort, wrong, right, { repeats: 1 }), {
    ...sort,
    result: 'wrong',
    checked: 'reference',
  });
});

test('a sort that is wrong only in a timed repetition is reported as wrong', async (t) => {
  const late: SortRunner = async (_, keys, { profile }) => ({
    result: profile ? keys : keys.toSorted(),
    report,
  });
  t.deepEqual(await measureSort(sort, late, right, { repeats: 1 }), {
    ...sort,
    result: 'wrong',
    checked: 'reference',
  });
});

test('a sort by another algorithm is an error, and an unsupported sort is reported with its reason', async (t) => {
  const other: SortRunner = async (_, keys) => ({
    result: keys.toSorted(),
    report: { ...report, algorithm: 'b' },
  });
  const row = await measureSort(sort, other, right, { repeats: 1 });
  t.is(row.result, 'error');
  t.is(row.reason, "'b' sorted instead of 'fake'");
  const none: SortRunner = () => Promise.reject(new UnsupportedError('too many'));
  t.like(await measureSort(sort, none, right, { repeats: 1 }), { result: 'unsupported', reason: 'too many' });
});

test('a large sort is verified by the device, and its timed results are compared with the verified one', async (t) => {
  const verified = { order: true, permutation: true };
  const calls: boolean[] = [];
  const hostResult =
    (found: typeof verified, timed = (keys: Uint8Array): Uint8Array => keys.toSorted()): SortRunner =>
    async (_, keys, { verify }) => {
      calls.push(verify === true);
      return verify
        ? { result: keys.toSorted(), report: { ...report, verified: found } }
        : { result: timed(keys), report };
    };
  const measure = (runner: SortRunner) =>
    measureSort(sort, runner, () => Promise.reject(new Error('not asked')), { repeats: 2, maxCompared: 0 });
  t.like(await measure(hostResult(verified)), { result: 'ok', checked: 'device' });
  t.deepEqual(calls, [true, false, false, false, false]);
  const wrong = { ...sort, result: 'wrong', checked: 'device' } as const;
  t.deepEqual(await measure(hostResult({ order: true, permutation: false })), wrong);
  t.deepEqual(await measure(hostResult(verified, (keys) => keys)), wrong);
});

test('a row names the timed algorithm, and a change of algorithm is an error', async (t) => {
  const auto = { ...sort, algorithm: 'auto' };
  const madeBy =
    (...names: string[]): SortRunner =>
    async (_, keys) => {
      const algorithm = names.shift() ?? 'none';
      return { result: keys.toSorted(), report: { ...report, algorithm } };
    };
  const checkedByAnother = await measureSort(auto, madeBy('whole', 'parts', 'parts'), right, { repeats: 1 });
  t.like(checkedByAnother, { result: 'ok', algorithm: 'parts' });
  const changed = await measureSort(auto, madeBy('whole', 'parts', 'other'), right, { repeats: 1 });
  t.deepEqual(changed, { ...auto, result: 'error', reason: "'other' sorted instead of 'parts'" });
  const named = await measureSort(sort, madeBy('fake', 'fake', 'other'), right, { repeats: 1 });
  t.deepEqual(named, { ...sort, result: 'error', reason: "'other' sorted instead of 'fake'" });
});

test('a sort that fails the verification of the device is reported as wrong', async (t) => {
  const refused: SortRunner = (_, keys, { verify }) =>
    verify
      ? Promise.reject(new MismatchError('not sorted'))
      : Promise.resolve({ result: keys.toSorted(), report });
  const row = await measureSort(sort, refused, right, { repeats: 1, maxCompared: 0 });
  t.deepEqual(row, { ...sort, result: 'wrong', checked: 'device', reason: 'not sorted' });
});

test('the benchmark allocates millions of pairs outside the JavaScript heap', async (t) => {
  const args = [
    'bench',
    'sorts',
    '--mode',
    'pairs',
    '--count',
    '2^22',
    '--repeats',
    '1',
    '--device',
    'Portable',
  ];
  const { code, err } = await clsort(args, { env: { NODE_OPTIONS: '--max-old-space-size=32' } });
  t.is(code, 0, err);
});

test('a sort moves at least 36 bytes per u32 key, 136 per u64 key and 68 per u32 pair', (t) => {
  t.is(minTrafficBytes({ dtype: 'u32', mode: 'keys', n: 1 }), 36);
  t.is(minTrafficBytes({ dtype: 'u64', mode: 'keys', n: 1 }), 136);
  t.is(minTrafficBytes({ dtype: 'u32', mode: 'pairs', n: 1 }), 68);
});

const ok = (n: number, seconds: number): SortRow => ({
  ...sort,
  n,
  result: 'ok',
  endToEnd: { median: seconds, mad: 0 },
  keysPerSecond: n / seconds,
});
const bench = (...rows: SortRow[]): SortBench => ({
  schema: SORT_SCHEMA,
  device: 'A & <B>',
  platform: 'fake',
  driver: '1',
  date: '2025-01-01',
  copyBytesPerSecond: null,
  rows,
});

test('a comparison with a baseline finds slower and broken cases', (t) => {
  const broken: SortRow = { ...sort, n: 3, result: 'wrong' };
  const before = bench(ok(1, 1), ok(2, 1), ok(3, 1));
  t.deepEqual(regressions(before, bench(ok(2, 2), broken, ok(1, 1), ok(4, 9))), [ok(2, 2), broken]);
});

test('the plot is well-formed and has a point for each correct row only', (t) => {
  const plot = svg([bench(ok(1024, 1), ok(2048, 1), { ...sort, result: 'wrong' })]);
  t.is(plot.match(/<circle /g)?.length, 2);
  t.true(plot.includes('A &amp; &lt;B&gt;'));
  t.false(/NaN|Infinity|undefined/.test(plot));
  const open: string[] = [];
  for (const [, end, name = '', self] of plot.matchAll(/<(\/?)(\w+)[^>]*?(\/?)>/g)) {
    if (end) t.is(open.pop(), name);
    else if (!self) open.push(name);
  }
  t.deepEqual(open, []);
  t.false(/NaN|Infinity/.test(svg([bench()])), 'without rows');
});

test('CSV and Markdown keep commas, quotes and bars inside their cells', (t) => {
  const odd = bench({ ...sort, result: 'error', reason: 'a,"b"|c' });
  t.true(csv([odd]).endsWith(',"a,""b""|c"'));
  t.true(markdown([odd]).endsWith(' a,"b"\\|c |'));
});

test('clsort bench sorts prints one row for each case', async (t) => {
  const args = ['bench', 'sorts', '--count', '1000,3000', '--repeats', '1', '--device', 'Portable', '--json'];
  const { code, out, err } = await clsort(args);
  t.is(code, 0, err);
  const made = JSON.parse(out) as SortBench;
  t.is(made.schema, SORT_SCHEMA);
  t.deepEqual(
    made.rows.map(({ n, result }) => [n, result]),
    [
      [1000, 'ok'],
      [3000, 'ok'],
    ],
  );
});

test('several devices are measured in one run, and either output format works as a baseline', async (t) => {
  const { path, remove } = scratchFolder();
  t.teardown(remove);
  const page = path('sorts.html');
  const args = ['bench', 'sorts', '--count', '2^8..2^10:2', '--repeats', '1', '--json'];
  const env = { POCL_DEVICES: 'basic pthread' };
  const names = poclNames().join();
  const both = await clsort([...args, '--device', names, '--html', page], { env });
  t.is(both.code, 0, both.err);
  const made = JSON.parse(both.out) as SortBenches;
  t.is(made.schema, 'clsort.bench.sorts/2');
  t.is(made.benches.length, 2);
  for (const { device, rows } of made.benches) {
    t.deepEqual(
      rows.map((row) => [row.device, row.n, row.result]),
      [
        [device, 256, 'ok'],
        [device, 1024, 'ok'],
      ],
    );
  }
  t.true(readFileSync(page, 'utf8').includes(`--count 2^8..2^10:2 --device ${names}`));
  const slow = made.benches.map((bench) => ({
    ...bench,
    rows: bench.rows.map((row) => ({
      ...row,
      endToEnd: { median: 100, mad: 0 },
      kernel: { median: 100, mad: 0 },
    })),
  }));
  writeFileSync(path('both.json'), JSON.stringify({ ...made, benches: slow }));
  writeFileSync(path('one.json'), JSON.stringify(slow[0]));
  for (const baseline of ['both.json', 'one.json']) {
    const again = await clsort([...args, '--device', 'Portable', '--baseline', path(baseline)], { env });
    t.is(again.code, 0, again.err);
  }
});

test('clsort bench sorts rejects unknown modes, missing baselines and empty ranges', async (t) => {
  t.is((await clsort(['bench', 'sorts', '--mode', 'both'])).code, 2);
  t.is((await clsort(['bench', 'sorts', '--baseline', '/no/such/file'])).code, 5);
  const range = await clsort(['bench', 'sorts', '--count', '2^9..2^8']);
  t.is(range.code, 2);
  t.regex(range.err, /2\^A\.\.2\^B/);
});
