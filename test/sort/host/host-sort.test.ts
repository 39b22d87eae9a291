import test from 'ava';
import { bytesOf, emptyLike, keyColumn } from '../../../src/keys/array.js';
import { DTYPES, type Dtype, dtypeInfo, type KeyArray } from '../../../src/keys/dtype.js';
import { type HostOrder, hostSort, sortSteps } from '../../../src/sort/host/host-sort.js';
import { verifySteps } from '../../../src/sort/host/host-verify.js';
import { runYielding, type Steps } from '../../../src/sort/host/steps.js';
import { AbortedError } from '../../../src/util/errors.js';
import { bitWindows, DISTRIBUTIONS, keysOf, SEED } from '../../distributions.js';
import { pick, referenceArgsort, referenceSort, sameMultiset } from '../../reference.js';

const ORDERS = [
  { descending: false, nan: 'last' },
  { descending: false, nan: 'first' },
  { descending: true, nan: 'last' },
  { descending: true, nan: 'first' },
] as const;

const sortKeys = <K extends KeyArray>(keys: K, dtype: Dtype, order: HostOrder = {}): K => {
  const sorted = emptyLike(keys);
  hostSort(keyColumn(keys, dtype), order, { sorted });
  return sorted;
};

const positionsOf = (keys: KeyArray, dtype: Dtype, order: HostOrder = {}): Uint32Array => {
  const moved = new Uint32Array(keys.length);
  hostSort(keyColumn(keys, dtype), order, { moved });
  return moved;
};

/** Compares bytes: NaN payloads and signs of zero count. */
const same = (a: ArrayBufferView, b: ArrayBufferView): boolean =>
  Buffer.compare(bytesOf(a), bytesOf(b)) === 0;

for (const dtype of DTYPES) {
  for (const order of ORDERS) {
    const how = `${order.descending ? 'descending' : 'ascending'}, NaN ${order.nan}`;
    test(`${dtype} ${how}: keys and positions of every distribution match the reference`, (t) => {
      for (const distribution of DISTRIBUTIONS) {
        for (const n of [0, 1, 2, 3, 33, 257]) {
          const keys = keysOf(dtype, distribution, n);
          const expected = referenceArgsort(bytesOf(keys), dtype, order);
          const what = `${distribution} ${n} seed ${SEED}`;
          const sorted = sortKeys(keys, dtype, order);
          t.true(same(sorted, pick(bytesOf(keys), keys.BYTES_PER_ELEMENT, expected)), what);
          t.deepEqual([...positionsOf(keys, dtype, order)], expected, what);
          t.true(sameMultiset(bytesOf(keys), bytesOf(sorted), keys.BYTES_PER_ELEMENT), what);
        }
      }
    });
  }

  test(`${dtype}: every bit window, including the empty one, is sorted in both directions`, (t) => {
    const keys = keysOf(dtype, 'uniform', 300);
    for (const bits of bitWindows(dtype)) {
      for (const descending of [false, true]) {
        const order = { bits, descending };
        t.true(same(sortKeys(keys, dtype, order), referenceSort(bytesOf(keys), dtype, order)), `${bits}`);
        t.deepEqual(
          [...positionsOf(keys, dtype, order)],
          referenceArgsort(bytesOf(keys), dtype, order),
          `${bits}`,
        );
      }
    }
  });

  test(`${dtype}: keys are sorted at the sizes at which digits widen`, (t) => {
    for (const n of [2047, 2048, 16_383, 16_384, 20_000]) {
      for (const distribution of ['uniform', 'special', 'and3'] as const) {
        const keys = keysOf(dtype, distribution, n);
        t.true(same(sortKeys(keys, dtype), referenceSort(bytesOf(keys), dtype)), `${distribution} ${n}`);
      }
    }
  });

  test(`${dtype}: thousands of keys are sorted in any order and window, with positions`, (t) => {
    const { width } = dtypeInfo(dtype);
    const windows: [number, number][] = [
      [0, width],
      [3, width - 1],
    ];
    for (const distribution of ['two', 'and9', 'and15', 'reversed', 'nearly-sorted'] as const) {
      const keys = keysOf(dtype, distribution, 5000);
      for (const bits of windows) {
        for (const descending of [false, true]) {
          const order = { descending, nan: descending ? 'first' : 'last', bits } as const;
          const expected = referenceArgsort(bytesOf(keys), dtype, order);
          const what = `${distribution} ${JSON.stringify(order)}`;
          t.true(
            same(sortKeys(keys, dtype, order), pick(bytesOf(keys), keys.BYTES_PER_ELEMENT, expected)),
            what,
          );
          t.deepEqual([...positionsOf(keys, dtype, order)], expected, what);
        }
      }
    }
  });

  for (const width of [1, 2, 3, 4, 8, 12, 16]) {
    test(`${dtype}: values of ${width} bytes move with their keys`, (t) => {
      const keys = keysOf(dtype, 'and3', 500);
      const values = Uint8Array.from({ length: 500 * width }, (_, i) => (i * 7 + (i >> 8)) & 0xff);
      const sorted = emptyLike(keys);
      // An odd offset, so that the values are not aligned to any multiple.
      const memory = new Uint8Array(values.length + 1);
      const moved = memory.subarray(1);
      hostSort(keyColumn(keys, dtype), {}, { sorted, values: { place: values, bytes: width }, moved });
      const expected = referenceArgsort(bytesOf(keys), dtype);
      t.true(same(moved, pick(values, width, expected)));
      t.true(same(sorted, pick(bytesOf(keys), dtypeInfo(dtype).bytes, expected)));
    });
  }
}

test('keys with one element out of order are sorted', (t) => {
  for (const dtype of ['u32', 'i64', 'f64'] as const) {
    for (const at of [1, 1500, 4999]) {
      for (const order of [{}, { bits: [3, 31] }] as const) {
        const keys = sortKeys(keysOf(dtype, 'uniform', 5000), dtype, order);
        t.true(same(sortKeys(keys, dtype, order), keys), `${dtype} in order`);
        keys.copyWithin(at, at - 1, at); // the next line puts the largest before it
        keys.copyWithin(at - 1, 4999);
        const expected = referenceArgsort(bytesOf(keys), dtype, order);
        t.deepEqual([...positionsOf(keys, dtype, order)], expected, `${dtype} ${at}`);
        t.true(same(sortKeys(keys, dtype, order), pick(bytesOf(keys), keys.BYTES_PER_ELEMENT, expected)));
      }
    }
  }
});

test('the host sort agrees with TypedArray.prototype.sort on numbers', (t) => {
  for (const dtype of ['u8', 'i8', 'u16', 'i16', 'u32', 'i32', 'u64', 'i64'] as const) {
    const keys = keysOf(dtype, 'uniform', 5000);
    t.deepEqual(sortKeys(keys, dtype), keys.slice().sort());
  }
  const floats = Float64Array.from({ length: 5000 }, (_, i) => Math.sin(i) * 10 ** (i % 300));
  t.deepEqual(sortKeys(floats, 'f64'), floats.slice().sort());
});

test('negative zero is below zero, and NaNs of both signs are last in both directions', (t) => {
  const keys = Float32Array.of(0, Number.NaN, -0, 1, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, -1);
  new Uint32Array(keys.buffer)[1] = 0xffc00001; // a negative NaN
  t.deepEqual(
    [...sortKeys(keys, 'f32')],
    [Number.NEGATIVE_INFINITY, -1, -0, 0, 1, Number.POSITIVE_INFINITY, Number.NaN],
  );
  t.deepEqual(
    [...sortKeys(keys, 'f32', { descending: true })],
    [Number.POSITIVE_INFINITY, 1, 0, -0, -1, Number.NEGATIVE_INFINITY, Number.NaN],
  );
  t.true(Number.isNaN(sortKeys(keys, 'f32', { nan: 'first' })[0]));
});

test('the host sort sorts in place when the result is the input', (t) => {
  for (const dtype of DTYPES) {
    const keys = keysOf(dtype, 'special', 3000);
    const expected = referenceSort(bytesOf(keys), dtype, { descending: true });
    hostSort(keyColumn(keys, dtype), { descending: true }, { sorted: keys });
    t.true(same(keys, expected), dtype);
  }
});

test('the host sort reads keys at odd offsets of a Buffer and in shared memory', (t) => {
  const plain = keysOf('f64', 'uniform', 1000);
  const odd = Buffer.alloc(8001).subarray(1);
  odd.set(bytesOf(plain));
  const expected = referenceSort(bytesOf(plain), 'f64');
  t.true(same(sortKeys(odd, 'f64'), expected));
  const shared = new Float64Array(new SharedArrayBuffer(8000));
  bytesOf(shared).set(bytesOf(plain));
  t.true(same(sortKeys(shared, 'f64'), expected));
});

/** Median time of a step in milliseconds, and the number of steps; in some steps the machine does other work. */
function stepsOf(steps: Steps<unknown>): { count: number; median: number } {
  const times: number[] = [];
  for (;;) {
    const started = performance.now();
    const { done } = steps.next();
    times.push(performance.now() - started);
    if (done) return { count: times.length, median: times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0 };
  }
}

for (const distribution of ['uniform', 'sorted', 'two'] as const) {
  test(`no step of a sort or its verification takes long: ${distribution}`, (t) => {
    const n = 2 ** 20;
    for (const dtype of ['u8', 'u16', 'f64'] as const) {
      const keys = keyColumn(keysOf(dtype, distribution, n));
      const moved = new Uint32Array(n);
      for (const result of [{ sorted: emptyLike(keys.array) }, { moved }]) {
        for (const steps of [sortSteps(keys, {}, result), verifySteps(keys, {}, result)]) {
          const { count, median } = stepsOf(steps);
          t.true(count >= n / 2 ** 16, `${dtype} ${Object.keys(result)}: ${count} steps`);
          t.true(median < 20, `${dtype} ${Object.keys(result)}: ${median} ms`);
        }
      }
    }
  });
}

test('a sort in turns gives the same result and lets other work run in between', async (t) => {
  const keys = keysOf('f64', 'uniform', 3_000_000);
  const sorted = emptyLike(keys);
  let turns = 0;
  const others = setInterval(() => turns++, 1);
  await runYielding(sortSteps(keyColumn(keys), {}, { sorted }));
  clearInterval(others);
  t.true(turns > 3, `${turns} turns`);
  t.true(same(sorted, sortKeys(keys, 'f64')));
});

test('a signal aborts a sort in turns', async (t) => {
  const keys = keysOf('u64', 'uniform', 3_000_000);
  const controller = new AbortController();
  setTimeout(() => controller.abort('enough'), 1);
  const running = runYielding(sortSteps(keyColumn(keys), {}, { sorted: emptyLike(keys) }), controller.signal);
  const error = await t.throwsAsync(running, { instanceOf: AbortedError });
  t.is(error?.cause, 'enough');
});

test('values are sorted in their own memory', (t) => {
  const keys = keysOf('u32', 'uniform', 3000);
  const values = Float64Array.from({ length: 3000 }, (_, i) => i);
  hostSort(keyColumn(keys), {}, { values: { place: values, bytes: 8 }, moved: values });
  t.deepEqual([...values], [...positionsOf(keys, 'u32')]);
});
