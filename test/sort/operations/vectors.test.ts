/** Operations on Arrow vectors of numbers, against a plain reference. */
import * as arrow from 'apache-arrow';
import test from 'ava';
import { InputError, Sorter, UnsupportedError, UsageError } from '../../../src/index.js';
import { Random } from '../../../src/util/random.js';
import { SEED } from '../../distributions.js';
import { forEachSorter } from '../../each-sorter.js';
import {
  codesOf,
  distinctRows,
  NUMBER_TYPES,
  patternsOf,
  ROW_ORDERS,
  randomNumbers,
  referencePositions,
} from './random-vectors.js';

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

/** Lengths, shares of nulls and numbers of chunks of random vectors. */
const SHAPES = [
  { n: 0, nulls: 0, chunks: 1 },
  { n: 0, nulls: 0.5, chunks: 2 },
  { n: 1, nulls: 0, chunks: 1 },
  { n: 40, nulls: 1, chunks: 2 },
  { n: 300, nulls: 0, chunks: 1 },
  { n: 300, nulls: 0, chunks: 4 },
  { n: 301, nulls: 0.3, chunks: 1 },
  { n: 3000, nulls: 0.01, chunks: 3 },
] as const;

/** Pairs of a type and a shape. */
const CASES = NUMBER_TYPES.flatMap((type) => SHAPES.map((shape) => ({ type, shape })));

forEachSorter((title, open, small) => {
  const cases = CASES.filter((_, i) => !small || i % 11 === 0);

  test.serial(title('sort, argsort and topK of vectors of numbers'), async (t) => {
    const [sorter, random] = [await open(), new Random(SEED)];
    for (const [i, { type, shape }] of cases.entries()) {
      const vector = randomNumbers(type, shape.n, shape, random);
      const order = ROW_ORDERS[i % ROW_ORDERS.length] as (typeof ROW_ORDERS)[number];
      const expected = referencePositions(codesOf(vector, type.dtype, order), order.nulls, compare);
      const patterns = patternsOf(vector);
      const rowsAt = (positions: readonly number[]) => positions.map((position) => patterns[position]);
      const what = `${type.type} ${JSON.stringify(shape)} ${JSON.stringify(order)} seed ${SEED}`;

      const sorted = await sorter.sort(vector, order);
      t.true(sorted instanceof arrow.Vector);
      t.is(sorted.type, vector.type);
      t.is(sorted.nullCount, vector.nullCount, what);
      t.deepEqual(patternsOf(sorted), rowsAt(expected), what);
      t.deepEqual(
        [...sorted],
        expected.map((position) => vector.get(position)),
        what,
      );
      t.deepEqual(await sorter.argsort(vector, order), Uint32Array.from(expected), what);

      const { descending, ...rest } = order;
      for (const k of [0, 3, 250, 5000]) {
        const top = await sorter.topK(vector, k, { ...rest, largest: descending });
        t.deepEqual(top.indices, Uint32Array.from(expected.slice(0, k)), `k ${k} ${what}`);
        t.deepEqual(patternsOf(top.keys), rowsAt(expected.slice(0, k)), `k ${k} ${what}`);
      }
    }
  });

  test.serial(title('unique of vectors of numbers'), async (t) => {
    const [sorter, random] = [await open(), new Random(SEED + 1n)];
    for (const [i, { type, shape }] of cases.entries()) {
      const vector = randomNumbers(type, shape.n, shape, random);
      const order = ROW_ORDERS[i % ROW_ORDERS.length] as (typeof ROW_ORDERS)[number];
      const positions = referencePositions(codesOf(vector, type.dtype, order), order.nulls, compare);
      const { keys: rows, ...columns } = distinctRows(vector, positions);
      const patterns = patternsOf(vector);
      const what = `${type.type} ${JSON.stringify(shape)} ${JSON.stringify(order)} seed ${SEED}`;
      const { keys, ...found } = await sorter.unique(vector, {
        ...order,
        counts: true,
        index: true,
        inverse: true,
      });
      t.deepEqual(
        patternsOf(keys),
        rows.map((row) => patterns[row]),
        what,
      );
      t.deepEqual(found, columns, what);
      const plain = await sorter.unique(vector, order);
      t.deepEqual(patternsOf(plain.keys), patternsOf(keys), what);
      t.deepEqual(plain.counts, columns.counts, what);
    }
  });
});

test('numbers without nulls in one chunk are sorted where they are', async (t) => {
  await using sorter = await Sorter.open({ device: 'host' });
  const seen: ArrayBufferView[] = [];
  sorter.sort = ((keys: Int32Array, options?: object) => {
    seen.push(keys);
    return Sorter.prototype.sort.call(sorter, keys, options);
  }) as never;
  const vector = arrow.makeVector(Int32Array.of(9, 3, 1, 2, 8)).slice(1, 4);
  const sorted = (await Sorter.prototype.sort.call(sorter, vector as never)) as unknown as arrow.Vector;
  t.deepEqual([...sorted], [1, 2, 3]);
  t.deepEqual([...vector], [3, 1, 2]);
  const [keys] = seen as [Int32Array];
  t.true(keys.buffer === vector.data[0]?.values.buffer);
  t.is(keys.byteOffset, 4);
});

test('options of sorts hold for vectors, and reports are those of the keys', async (t) => {
  await using sorter = await Sorter.open({ device: 'host' });
  const vector = arrow.vectorFromArray([3, null, 0x101, 2], new arrow.Int32());
  t.deepEqual([...(await sorter.argsort(vector, { bitRange: [0, 8] }))], [2, 3, 0, 1]);
  t.deepEqual([...(await sorter.sort(vector, { verify: true, nulls: 'first' }))], [null, 2, 3, 0x101]);
  const keys: number[] = [];
  await sorter.sort(vector, { onReport: ({ n }) => keys.push(n) });
  t.deepEqual(keys, [3]);
  const memoized = await sorter.sort(vector.memoize());
  t.false(memoized.isMemoized);
  t.deepEqual([...memoized], [2, 3, 0x101, null]);
});

test('wrong calls on vectors raise typed errors', async (t) => {
  await using sorter = await Sorter.open({ device: 'host' });
  const vector = arrow.vectorFromArray([3, null, 2], new arrow.Int32());
  const throws = async (call: Promise<unknown>, instanceOf: typeof UsageError, message: RegExp) => {
    await t.throwsAsync(call, { instanceOf, message });
  };
  await throws(
    sorter.sort(vector, { nulls: 'middle' as never }),
    UsageError,
    /expected one of first, last for nulls/,
  );
  await throws(sorter.sort(vector, { dtype: 'f32' } as never), UsageError, /vectors do not support it/);
  await throws(
    sorter.sort(vector, { into: new Int32Array(3) } as never),
    UsageError,
    /vectors do not support it/,
  );
  await throws(sorter.sort(vector, { nul: 1 } as never), UsageError, /nul/);
  await throws(sorter.topK(vector, -1), UsageError, /for k/);
  await throws(sorter.sort(Int32Array.of(1), { nulls: 'first' } as never), UsageError, /nulls/);
  await throws(
    sorter.reduce(vector as never, 'sum'),
    InputError,
    /pass vector\.toArray\(\) of numbers without nulls/,
  );
  await throws(sorter.sort(arrow.vectorFromArray([true])), UnsupportedError, /vector of Bool/);
  const lying = (length: number, nullCount: number) =>
    new arrow.Vector([
      vector.data[0]?.clone(new arrow.Int32(), 0, length, nullCount) as arrow.Data<arrow.Int32>,
    ]);
  await throws(sorter.sort(lying(3, 2)), InputError, /declares 2 nulls, and its bitmap has 1/);
  await throws(sorter.sort(lying(300, 0)), InputError, /300 rows has only/);
  await t.throwsAsync(sorter.sort(vector, { signal: AbortSignal.abort() }), { code: 'ERR_CLSORT_ABORTED' });
});
