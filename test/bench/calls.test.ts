import { readFileSync, writeFileSync } from 'node:fs';
import ava from 'ava';
import { callInputs } from '../../src/bench/call-operations.js';
import {
  benchCalls,
  CALL_SCHEMA,
  type Call,
  type CallBench,
  type CallRow,
  callRegressions,
  measureCall,
} from '../../src/bench/calls.js';
import { type DeviceArray, Sorter, UnsupportedError } from '../../src/index.js';
import { bytesOf } from '../../src/keys/array.js';
import { TIMED_OPERATIONS } from '../../src/sort/operations/cases.js';
import { clsort, scratchFolder } from '../cli/cli.js';

const test = ava.serial; // timed calls run alone
const what = { operation: 'fake', place: 'host', n: 3 } as const;
const right = Uint32Array.of(1, 2, 3);
const expected = [bytesOf(right)];
const quick = { repeats: 2, chain: 6, warmUpSeconds: 0 };
const one = { isOneSort: true };
const report = {
  n: 3,
  dtype: 'u32',
  device: { name: 'fake', type: 'cpu' },
  algorithm: 'fake',
  reason: 'asked for',
  bitRange: [0, 32],
  stages: [
    { stage: 'upload', seconds: 8, launches: 1 },
    { stage: 'count', seconds: 1, launches: 1 },
    { stage: 'scatter', seconds: 3, launches: 1 },
  ],
  seconds: 20,
} as const;

test('a correct call gets an awaited time, a time in an overlapping chain and its kernel time', async (t) => {
  let [running, max] = [0, 0];
  const call: Call = async (options) => {
    max = Math.max(max, ++running);
    await new Promise(setImmediate);
    running--;
    options?.onReport?.(report);
    return [right];
  };
  const row = await measureCall(what, call, expected, one, quick);
  t.is(row.result, 'ok', row.reason);
  t.true((row.awaited?.median ?? 0) > 0);
  t.true((row.chained?.median ?? 0) > 0);
  t.is(row.chain, 6);
  t.is(max, 6);
  t.deepEqual(row.kernel, { median: 4, mad: 0 });
});

test('only single sorts are asked for kernel times, which are missing if the device does not measure', async (t) => {
  let asked = 0;
  const call: Call = async (options) => {
    if (options) asked++;
    options?.onReport?.({ ...report, stages: [{ stage: 'count', seconds: null, launches: 1 }] });
    return [right];
  };
  const several = await measureCall(what, call, expected, { isOneSort: false }, quick);
  t.is(several.result, 'ok');
  t.is(asked, 0);
  const silent = await measureCall(what, call, expected, one, quick);
  t.is(silent.result, 'ok');
  t.is(asked, quick.repeats);
  t.false('kernel' in silent);
});

test('a call with a wrong first, chained or profiled result has no times', async (t) => {
  for (const wrong of ['first', 'chain', 'profiled']) {
    let calls = 0;
    let running = 0;
    const call: Call = async (options) => {
      const is = options ? 'profiled' : calls++ === 0 ? 'first' : ++running > 1 ? 'chain' : '';
      await new Promise(setImmediate);
      running = 0;
      return [is === wrong ? Uint32Array.of(1, 3, 2) : right];
    };
    t.deepEqual(await measureCall(what, call, expected, one, quick), { ...what, result: 'wrong' }, wrong);
  }
  const more: Call = async () => [right, right];
  t.is((await measureCall(what, more, expected, one, quick)).result, 'wrong', 'a part too many');
});

test('a timed chain allocates no new memory even though earlier results are still held', async (t) => {
  const sorter = await Sorter.open({ device: 'cpu' });
  t.teardown(() => sorter.close());
  const keys = await sorter.upload(Uint32Array.of(3, 1, 2));
  const taken: number[] = [];
  const call: Call = async () => {
    const sorted = sorter.sort(keys);
    const { used, idle } = sorter.memory();
    taken.push(used + idle);
    return [await sorted];
  };
  const repeats = 4;
  const on = { ...what, place: 'device' } as const;
  const row = await measureCall(on, call, expected, { isOneSort: false }, { ...quick, repeats });
  t.is(row.result, 'ok', row.reason);
  const timed = taken.splice(-repeats * quick.chain);
  t.is(Math.max(...timed), Math.max(...taken));
});

test('a failed call reports its reason after the rest of its chain settles and releases its memory', async (t) => {
  const sorter = await Sorter.open({ device: 'host' });
  t.teardown(() => sorter.close());
  const made: DeviceArray[] = [];
  let [running, max] = [0, 0];
  const call: Call = async () => {
    max = Math.max(max, ++running);
    const result = await sorter.upload(right);
    made.push(result);
    await new Promise(setImmediate);
    running--;
    if (max === 4 && made.length % 2 === 0) {
      result.dispose();
      throw new Error('no room');
    }
    return [result];
  };
  const row = await measureCall(what, call, expected, one, { ...quick, chain: 4 });
  t.deepEqual(row, { ...what, result: 'error', reason: 'no room' });
  t.is(running, 0);
  for (const array of made) t.throws(() => array.byteLength, { message: /disposed/ });
  const never: Call = async () => {
    throw new UnsupportedError('not here');
  };
  const unsupported = { ...what, result: 'unsupported', reason: 'not here' };
  t.deepEqual(await measureCall(what, never, expected, one, quick), unsupported as CallRow);
});

test('each benchmarked operation computes the result that its name promises', async (t) => {
  const n = 70_001;
  const sorter = await Sorter.open({ device: 'host' });
  t.teardown(() => sorter.close());
  const inputs = callInputs(n);
  const { keys, values, few, indices } = inputs;
  const made = new Map<string, readonly unknown[]>();
  for (const { name, prepare } of TIMED_OPERATIONS) made.set(name, await prepare(n)(sorter, inputs));
  const of = (name: string): Uint32Array[] => made.get(name) as Uint32Array[];

  t.deepEqual(
    values,
    Uint32Array.from(keys, (_, i) => i),
  );
  const sorted = keys.toSorted();
  const order = values.toSorted((a, b) => (keys[a] ?? 0) - (keys[b] ?? 0) || a - b);
  t.deepEqual(of('sort'), [sorted]);
  t.deepEqual(of('argsort'), [order]);
  t.deepEqual(of('sortPairs'), [sorted, order]);
  const rows = values.toSorted(
    (a, b) => (few[a] ?? 0) - (few[b] ?? 0) || (keys[a] ?? 0) - (keys[b] ?? 0) || a - b,
  );
  t.deepEqual(of('lexsort'), [rows]);
  for (const k of [100, 65536]) t.deepEqual(of(`topK-${k}`)[0], sorted.toReversed().slice(0, k));
  t.deepEqual(of('unique')[0], Uint32Array.from(new Set(few)).sort());
  t.is(of('unique')[0]?.length, 1000);
  t.is(
    of('unique')[1]?.reduce((sum, count) => sum + count, 0),
    n,
  );
  const sum = keys.reduce((all, key) => all + BigInt(key), 0n);
  t.deepEqual(made.get('reduce'), [sum]);
  t.is(of('scan')[0]?.at(-1), Number(BigInt.asUintN(32, sum)));
  t.is(of('scan')[0]?.[0], keys[0]);
  const bins = new Uint32Array(256);
  for (const key of keys) bins[key >>> 24] = (bins[key >>> 24] ?? 0) + 1;
  t.deepEqual(of('histogram'), [bins]);
  t.deepEqual(of('gather'), [Uint32Array.from(indices, (i) => keys[i] ?? 0)]);
  for (const length of [32, 256, 4096, 65536]) {
    const rowsOf = new Uint32Array(n);
    for (let at = 0; at < n; at += length) rowsOf.set(keys.slice(at, at + length).sort(), at);
    t.deepEqual(of(`segmentedSort-${length}`), [rowsOf]);
  }
  const [mixed = new Uint32Array()] = of('segmentedSort-zipf');
  const falls = mixed.filter((key, i) => i > 0 && key < (mixed[i - 1] ?? 0)).length;
  t.true(falls > 3 && falls < n / 32, `${falls} segments at least, few of them of one length`);
  t.deepEqual(mixed.toSorted(), sorted);
});

test('every operation is correct on device and host arrays, and callbacks get inputs and results', async (t) => {
  const rows: CallRow[] = [];
  const seen: string[] = [];
  const bench = await benchCalls({
    ...{ device: 'host', operations: TIMED_OPERATIONS, counts: [1, 300], places: ['device', 'host'] },
    ...{ repeats: 1, chain: 2, warmUpSeconds: 0 },
    onRow: (row) => rows.push(row),
    onInputs: (n, { keys }) => seen.push(`${n} ${keys.length}`),
    onExpected: (operation, parts) => seen.push(`${operation} ${parts.length}`),
  });
  t.deepEqual(bench.rows, rows);
  t.is(rows.length, 2 * 2 * TIMED_OPERATIONS.length);
  for (const row of rows) t.is(row.result, 'ok', `${row.operation} ${row.place} ${row.n}: ${row.reason}`);
  t.deepEqual(seen.slice(0, 2), ['1 1', 'sort 1']);
  t.is(seen.length, 2 + 2 * TIMED_OPERATIONS.length);
});

test('a comparison with a baseline finds calls that are slower, awaited or in a chain, or broken', (t) => {
  const row = (n: number, awaited: number, chained = 1): CallRow => ({
    ...{ operation: 'sort', place: 'device', n, result: 'ok', chain: 2 },
    ...{ awaited: { median: awaited, mad: 0 }, chained: { median: chained, mad: 0 } },
  });
  const broken: CallRow = { operation: 'sort', place: 'device', n: 3, result: 'wrong' };
  const elsewhere: CallRow = { ...row(1, 9), place: 'host' };
  const before = { rows: [row(1, 1), row(2, 1), row(3, 1), row(4, 1), { ...broken, n: 5 }] };
  const now = { rows: [row(1, 1.04), row(2, 2), broken, row(4, 1, 2), row(5, 9), elsewhere] };
  t.deepEqual(callRegressions(before, now), [row(2, 2), broken, row(4, 1, 2)]);
});

test('clsort bench calls measures the selected operations and writes every format', async (t) => {
  const { path, remove } = scratchFolder();
  t.teardown(remove);
  const [page, plot] = [path('calls.html'), path('calls.svg')];
  const args = ['bench', 'calls', '--device', 'cpu', '--count', '500,3000', '--repeats', '1', '--chain', '3'];
  const named = [...args, '--operation', 'gather,topK,sort', '--html', page, '--svg', plot];
  const { code, out, err } = await clsort([...named, '--json']);
  t.is(code, 0, err);
  const made = JSON.parse(out) as CallBench & { command: string };
  t.is(made.schema, CALL_SCHEMA);
  t.true(made.device.length > 0 && made.driver.length > 0 && made.load >= 0);
  t.regex(made.command, /^clsort bench calls --count 500,3000 --device cpu --operation gather,topK,sort /);
  const cases = ['sort', 'topK-100', 'topK-65536', 'gather'].flatMap((operation) =>
    ['device', 'host'].map((place) => `${operation} ${place} ok`),
  );
  t.deepEqual(
    made.rows.map(({ operation, place, n, result }) => `${n} ${operation} ${place} ${result}`),
    [...cases.map((row) => `500 ${row}`), ...cases.map((row) => `3000 ${row}`)],
  );
  for (const { operation, chain, kernel } of made.rows) {
    t.is(chain, 3);
    t.is(kernel !== undefined, operation === 'sort');
  }
  t.true(readFileSync(page, 'utf8').includes(made.command));

  const slow = made.rows.map((row) => ({
    ...row,
    awaited: { median: 99, mad: 0 },
    chained: { median: 99, mad: 0 },
  }));
  // Despite the deviations between calls, these took less time.
  const fast = made.rows.map((row) => ({ ...row, awaited: { median: -9, mad: 0 } }));
  writeFileSync(path('slow.json'), JSON.stringify({ ...made, rows: slow }));
  writeFileSync(path('fast.json'), JSON.stringify({ ...made, rows: fast }));
  const again = [...args, '--operation', 'sort', '--place', 'host'];
  t.is((await clsort([...again, '--baseline', path('slow.json')])).code, 0);
  const slower = await clsort([...again, '--baseline', path('fast.json')]);
  t.is(slower.code, 1);
  t.is(slower.err.match(/^clsort: slower than the baseline: sort host \d+ ok /gm)?.length, 2);
  writeFileSync(path('sorts.json'), JSON.stringify({ schema: 'clsort.bench.sorts/1', rows: [] }));
  t.is((await clsort([...again, '--baseline', path('sorts.json')])).code, 2);
  t.is((await clsort([...again, '--baseline', path('none.json')])).code, 5);

  t.is(readFileSync(plot, 'utf8').match(/class="point"/g)?.length, 8);
  const plain = await clsort([...args, '--operation', 'reduce', '--place', 'device']);
  t.is(plain.code, 0, plain.err);
  t.is(plain.out.trimEnd().split('\n').length, 3);
  t.regex(plain.out, /^operation\t.*\nreduce\tdevice\t500\tok\t/);
});
