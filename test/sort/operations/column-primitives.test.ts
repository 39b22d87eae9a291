/** reduce, scan, histogram and gather of Sorters, on the host and on devices, against plain loops. */

import test from 'ava';
import * as library from '../../../src/index.js';
import { DTYPES, type Dtype, dtypeInfo, type KeyArray } from '../../../src/keys/dtype.js';
import { encode, keyCodec } from '../../../src/keys/key-codec.js';
import { keyValue } from '../../../src/keys/value.js';
import type { CallContext } from '../../../src/sort/backend/backend.js';
import { DeviceBackend } from '../../../src/sort/backend/device-session.js';
import type { Call, ExecutionBody } from '../../../src/sort/calls/call.js';
import { Execution } from '../../../src/sort/calls/call-scheduler.js';
import { type Column, column, type Place } from '../../../src/sort/model/column.js';
import type { DeviceArray } from '../../../src/sort/model/device-array.js';
import { parseSortOptions } from '../../../src/sort/model/parse-options.js';
import { enqueueReduce } from '../../../src/sort/operations/reduce/reduce.js';
import { enqueueScan } from '../../../src/sort/operations/scan/scan.js';
import { type ClsortError, InputError, UnsupportedError, UsageError } from '../../../src/util/errors.js';
import { dtypesOn, keysOf, SEED } from '../../distributions.js';
import { forEachDevice } from '../../each-device.js';
import { forEachSorter } from '../../each-sorter.js';
import { patterns, pick } from '../../reference.js';

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
const same = (a: ArrayBufferView, b: ArrayBufferView) => Buffer.compare(bytesOf(a), bytesOf(b)) === 0;

/** Keys as numbers, in any kind of array. */
const valuesOf = (keys: KeyArray, dtype: Dtype) =>
  patterns(bytesOf(keys), dtype).map((bits) => keyValue(bits, dtypeInfo(dtype)));

const SCANNED = DTYPES.filter((dtype) => !dtype.endsWith('f16'));
const isFloat = (dtype: Dtype) => dtypeInfo(dtype).kind === 'float';

/** Allowed rounding error of a sum, relative to the sum of magnitudes. */
const epsilon = (dtype: Dtype) => (dtype === 'f32' ? 2 ** -24 : 2 ** -53);

/** Floats, some of which cancel out; their sums in doubles are exact. */
function plainFloats(dtype: 'f32' | 'f64', n: number): Float32Array | Float64Array {
  const numbers = Array.from({ length: n }, (_, i) => ((i * 7919) % 4001) / 64 - 20);
  return dtype === 'f32' ? Float32Array.from(numbers) : Float64Array.from(numbers);
}

/** Minimum of the numbers: NaN wins, and −0 is below +0. */
function extreme(values: readonly (number | bigint)[], op: 'min' | 'max'): number | bigint {
  const below = (a: number | bigint, b: number | bigint) =>
    a < b || (a === b && Object.is(a, -0) && !Object.is(b, -0));
  return values.reduce((a, b) => {
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.NaN;
    return op === 'min' ? (below(b, a) ? b : a) : below(a, b) ? b : a;
  });
}

/** Counts by comparing every key with every edge. */
function countsOf(values: readonly (number | bigint)[], edges: readonly (number | bigint)[]): number[] {
  const bins = edges.length - 1;
  return Array.from({ length: bins }, (_, bin) => {
    const [from, to] = [edges[bin] ?? 0, edges[bin + 1] ?? 0];
    return values.filter((value) => value >= from && (value < to || (bin === bins - 1 && value <= to)))
      .length;
  });
}

forEachSorter((title, open, small) => {
  for (const dtype of dtypesOn(small)) {
    test.serial(title(`histogram of ${dtype} digits matches the counts of a plain loop`), async (t) => {
      const sorter = await open();
      const { width } = dtypeInfo(dtype);
      const windows = [
        [0, 1],
        [0, 8],
        [width - 5, width],
        ...(width > 16 ? [[width / 2 - 5, width / 2 + 4]] : []),
      ];
      const n = small ? 257 : 5000;
      for (const distribution of ['special', 'uniform'] as const) {
        const keys = keysOf(dtype, distribution, n);
        const codes = patterns(bytesOf(keys), dtype).map((key) => encode(keyCodec(dtype), key));
        for (const [begin = 0, end = 0] of windows) {
          const expected = new Uint32Array(2 ** (end - begin));
          for (const code of codes) {
            const digit = Number((code >> BigInt(begin)) & BigInt(expected.length - 1));
            expected[digit] = (expected[digit] ?? 0) + 1;
          }
          const counts = await sorter.histogram(keys, { dtype, bitRange: [begin, end] });
          t.deepEqual(counts, expected, `${distribution} ${begin} to ${end}, seed ${SEED}`);
        }
      }
      const none = await sorter.histogram(keysOf(dtype, 'uniform', 0), { dtype, bitRange: [0, 3] });
      t.deepEqual(none, new Uint32Array(8));
    });
  }

  const sizes = small ? [1, 2, 33, 257] : [1, 2, 33, 257, 4096, 70_001];

  for (const dtype of dtypesOn(small)) {
    test.serial(title(`reduce of ${dtype} computes sums, minima and maxima`), async (t) => {
      const sorter = await open();
      for (const n of sizes) {
        for (const distribution of ['uniform', 'special'] as const) {
          const keys = keysOf(dtype, distribution, n);
          const values = valuesOf(keys, dtype);
          for (const op of ['min', 'max'] as const) {
            const got = await sorter.reduce(keys, op, { dtype });
            t.true(
              Object.is(got, extreme(values, op)),
              `${op} of ${n} ${distribution}: ${got}, seed ${SEED}`,
            );
          }
          if (isFloat(dtype)) continue;
          const sum = values.reduce<bigint>((a, b) => a + BigInt(b), 0n);
          const wrapped = dtype.startsWith('u') ? BigInt.asUintN(64, sum) : BigInt.asIntN(64, sum);
          t.is(await sorter.reduce(keys, 'sum', { dtype }), wrapped, `sum of ${n} ${distribution}`);
        }
      }
      await t.throwsAsync(sorter.reduce(keysOf(dtype, 'uniform', 0), 'min', { dtype }), {
        instanceOf: InputError,
      });
      const nothing = sorter.reduce(keysOf(dtype, 'uniform', 0), 'sum', { dtype });
      if (dtype.endsWith('f16'))
        await t.throwsAsync(nothing, { instanceOf: UnsupportedError, message: /f32/ });
      else t.is(await nothing, isFloat(dtype) ? 0 : 0n);
    });

    test.serial(
      title(`histogram of ${dtype} counts the keys between edges, which may be any numbers`),
      async (t) => {
        const sorter = await open();
        const whole = dtypeInfo(dtype).width === 64 && !isFloat(dtype);
        const { width } = dtypeInfo(dtype);
        const quarter = isFloat(dtype) ? 2.5 : 2 ** (width - 2);
        const edgeSets: readonly (readonly (number | bigint)[])[] = [
          [0, 1],
          [-1, -0.4, 0.3, 0.7, 5.5],
          [-quarter, 0, 0.1, quarter, 3 * quarter, 2 ** 70, 2 ** 71],
          [-Infinity, -(2 ** 70), 0, Infinity],
          [2 ** 80, 2 ** 81],
          [-(2 ** 81), -(2 ** 80)],
          Array.from({ length: 400 }, (_, i) => ((i - 150) * quarter) / 100),
          ...(whole
            ? [
                [0n, 5n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 70n],
                [-(2n ** 63n), -5n, 6n],
              ]
            : []),
        ];
        for (const n of [0, ...sizes.filter((size) => size < 70_000)]) {
          for (const keys of [keysOf(dtype, 'uniform', n), keysOf(dtype, 'special', n)]) {
            const values = valuesOf(keys, dtype);
            for (const edges of n > 300 ? edgeSets.slice(1, 3) : edgeSets) {
              const counts = await sorter.histogram(keys, { dtype, edges: edges as number[] });
              t.deepEqual(
                [...counts],
                countsOf(values, edges),
                `${n} keys, edges ${edges.slice(0, 8)}, seed ${SEED}`,
              );
            }
          }
        }
      },
    );

    test.serial(title(`gather of ${dtype} copies elements bit for bit`), async (t) => {
      const sorter = await open();
      const { bytes } = dtypeInfo(dtype);
      for (const n of sizes) {
        const values = keysOf(dtype, 'special', n);
        for (const count of [0, 1, 100]) {
          const indices = Uint32Array.from({ length: count }, (_, i) => (i * 31 + n - 1) % n);
          const gathered = await sorter.gather(values, indices);
          t.is(gathered.constructor, values.constructor);
          t.true(same(gathered, pick(bytesOf(values), bytes, [...indices])), `${count} of ${n}`);
        }
      }
    });
  }

  for (const dtype of ['f32', 'f64'] as const) {
    test.serial(title(`reduce sums ${dtype} within the stated error`), async (t) => {
      const sorter = await open();
      for (const n of sizes) {
        const keys = plainFloats(dtype, n);
        const exact = Array.from(keys).reduce((a, b) => a + b, 0);
        const magnitude = Array.from(keys).reduce((a, b) => a + Math.abs(b), 0);
        const sum = Number(await sorter.reduce(keys, 'sum', { onWarning: () => undefined }));
        const allowed = 2 * Math.max(1, Math.log2(n)) * epsilon(dtype) * magnitude;
        t.true(Math.abs(sum - exact) <= allowed, `${n}: ${sum} for ${exact}`);
        t.is(sum, dtype === 'f32' ? Math.fround(sum) : sum);
      }
      const infinite = (dtype === 'f32' ? Float32Array : Float64Array).of(1, Number.POSITIVE_INFINITY, 2, 3);
      t.is(await sorter.reduce(infinite, 'sum', { onWarning: () => undefined }), Number.POSITIVE_INFINITY);
    });
  }

  for (const dtype of SCANNED) {
    test.serial(title(`scan of ${dtype} computes exclusive and inclusive sums`), async (t) => {
      const sorter = await open();
      const onWarning = () => undefined;
      for (const n of [0, ...sizes]) {
        const keys = dtype === 'f32' || dtype === 'f64' ? plainFloats(dtype, n) : keysOf(dtype, 'uniform', n);
        const copy = keys.slice();
        for (const inclusive of [false, true]) {
          const sums = await sorter.scan(keys, { inclusive, onWarning });
          t.is(sums.constructor, keys.constructor);
          if (keys instanceof Float32Array || keys instanceof Float64Array) {
            let [sum, magnitude, worst] = [0, 0, 0];
            keys.forEach((key, i) => {
              const exact = inclusive ? sum + key : sum;
              magnitude += Math.abs(key);
              worst = Math.max(worst, Math.abs(Number(sums[i]) - exact) / magnitude);
              sum += key;
            });
            t.true(worst <= 4 * Math.max(1, Math.log2(n)) * epsilon(dtype), `${n} ${inclusive}: ${worst}`);
          } else {
            let sum = 0n;
            const expected = valuesOf(keys, dtype).map((key) => {
              const before = sum;
              sum += BigInt(key);
              return BigInt.asUintN(dtypeInfo(dtype).width, inclusive ? sum : before);
            });
            const bits = patterns(bytesOf(sums), dtype);
            t.deepEqual(bits, expected, `${n} ${inclusive}, seed ${SEED}`);
          }
        }
        t.true(same(keys, copy), 'the keys stay');
      }
    });
  }

  test.serial(title('scan with resultDtype widens the keys before it combines them'), async (t) => {
    const sorter = await open();
    const own = Uint8Array.of(200, 100, 3);
    t.deepEqual(await sorter.scan(own), Uint8Array.of(0, 200, 44), 'sums of u8 wrap in u8');
    const wide = await sorter.scan(own, { resultDtype: 'u64', inclusive: true, verify: true });
    t.deepEqual(wide, BigUint64Array.of(200n, 300n, 303n));
    const into = new Int32Array(3);
    t.is(await sorter.scan(Int8Array.of(-128, -128, 127), { resultDtype: 'i32', into }), into);
    t.deepEqual(into, Int32Array.of(0, -128, -256));
    const halves = Uint16Array.of(0x3c00, 0x4000, 0xc000); // 1, 2, -2
    const sums = await sorter.scan(halves, { dtype: 'f16', resultDtype: 'f32', inclusive: true });
    t.deepEqual(sums, Float32Array.of(1, 3, 1));
    const products = await sorter.scan(own, { resultDtype: 'u32', op: 'product', inclusive: true });
    t.deepEqual(products, Uint32Array.of(200, 20_000, 60_000));
    for (const wrong of ['i8', 'u7'] as const) {
      await t.throwsAsync(sorter.scan(own, { resultDtype: wrong as 'i8' }), {
        message: /expected .*u16|unknown dtype/,
      });
    }
    using array = await sorter.upload(own);
    await t.throwsAsync(sorter.scan(array as never, { resultDtype: 'u64' }), {
      message: /device array of u8/,
    });
  });

  test.serial(title('an edge of 0 includes both zeros, and NaN is in no bin'), async (t) => {
    const sorter = await open();
    for (const Floats of [Float32Array, Float64Array]) {
      const keys = Floats.of(-0, 0, -1, 1, Number.NaN, -Number.MIN_VALUE, Number.POSITIVE_INFINITY);
      const [tiny] = Floats.of(-Number.MIN_VALUE); // of f32 it is −0
      const count = tiny === 0 ? 3 : 2;
      t.deepEqual([...(await sorter.histogram(keys, { edges: [0, 1] }))], [count + 1]);
      t.deepEqual([...(await sorter.histogram(keys, { edges: [-0, 1] }))], [count + 1]);
      t.deepEqual([...(await sorter.histogram(keys, { edges: [-1, 0] }))], [4]);
      t.deepEqual([...(await sorter.histogram(keys, { edges: [-1, -0] }))], [4]);
      t.deepEqual(
        [...(await sorter.histogram(keys, { edges: [-Infinity, 0, Infinity] }))],
        [4 - count, count + 2],
      );
    }
  });

  test.serial(title('a range is divided into bins of equal width'), async (t) => {
    const sorter = await open();
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    t.deepEqual(await sorter.histogram(bytes, { bins: 4, range: [0, 256] }), Uint32Array.of(64, 64, 64, 64));
    t.deepEqual(await sorter.histogram(bytes, { bins: 2, range: [10, 20] }), Uint32Array.of(5, 6));
    const hundredths = Float64Array.from({ length: 100 }, (_, i) => i / 100);
    t.deepEqual(await sorter.histogram(hundredths, { bins: 1, range: [0.25, 0.5] }), Uint32Array.of(26));
    const wide = BigUint64Array.from({ length: 64 }, (_, i) => 1n << BigInt(i));
    const range = [0n, 2n ** 64n] as const;
    t.deepEqual(await sorter.histogram(wide, { bins: 4, range }), Uint32Array.of(62, 1, 1, 0));
    const many = await sorter.histogram(bytes, { bins: 65_536, range: [0, 65_536] });
    t.is(many.length, 65_536);
    t.true(many.every((count, i) => count === (i < 256 ? 1 : 0)));
  });

  test.serial(title('results of device arrays stay on the device through several operations'), async (t) => {
    const sorter = await open();
    const keys = keysOf('u32', 'uniform', 3000) as Uint32Array;
    using array = await sorter.upload(keys);
    using order = await sorter.argsort(array);
    using sorted = await sorter.gather(array, order);
    t.true(sorted instanceof library.DeviceArray);
    t.deepEqual(await sorted.read(), keys.toSorted());
    t.is(await sorter.reduce(sorted, 'max'), Math.max(...keys));
    t.is(
      await sorter.reduce(array, 'sum'),
      keys.reduce((sum, key) => sum + BigInt(key), 0n),
    );
    using sums = await sorter.scan(array, { inclusive: true });
    t.deepEqual(await sums.read(), await sorter.scan(keys, { inclusive: true }));
    const bins = { bins: 7, range: [0, 2 ** 32] } as const;
    t.deepEqual(await sorter.histogram(array, bins), await sorter.histogram(keys, bins));
    const digit = { bitRange: [27, 32] } as const;
    t.deepEqual(await sorter.histogram(array, digit), await sorter.histogram(keys, digit));
    using doubles = await sorter.upload(Float64Array.of(1.5, 2.5, -1));
    t.is(await sorter.reduce(doubles, 'sum', { onWarning: () => undefined }), 3);
    using prefixes = await sorter.scan(doubles, { onWarning: () => undefined });
    t.deepEqual(await prefixes.read(), Float64Array.of(0, 1.5, 4));
  });

  test.serial(
    title('results can be written into given arrays, and keys may be views with offsets or Buffers'),
    async (t) => {
      const sorter = await open();
      const keys = Uint32Array.of(9, 5, 1, 7).subarray(1);
      const into = new Uint32Array(3);
      t.is(await sorter.scan(keys, { into }), into);
      t.deepEqual(into, Uint32Array.of(0, 5, 6));
      t.is(await sorter.gather(keys, Uint32Array.of(2, 2, 0), { into }), into);
      t.deepEqual(into, Uint32Array.of(7, 7, 5));
      const unaligned = Buffer.from([0, 1, 0, 0, 0, 2, 0, 0, 0]).subarray(1);
      t.is(await sorter.reduce(unaligned, 'sum', { dtype: 'u32' }), 3n);
      const sums = await sorter.scan(unaligned, { dtype: 'u32', inclusive: true });
      t.true(Buffer.isBuffer(sums));
      t.is(sums.readUInt32LE(4), 3);
    },
  );

  test.serial(title('columns of different dtypes are gathered together'), async (t) => {
    const sorter = await open();
    const n = 1000;
    const indices = Uint32Array.from({ length: 700 }, (_, i) => (i * 31 + 5) % n);
    const columns = (['u8', 'f32', 'i64', 'u16', 'f64', 'i8', 'u32', 'i16', 'u64', 'f32'] as const).map(
      (dtype) => keysOf(dtype, 'special', n),
    );
    for (const some of [columns.slice(0, 1), columns.slice(0, 3), columns]) {
      const expected = some.map((one) => pick(bytesOf(one), one.BYTES_PER_ELEMENT, [...indices]));
      const gathered = await sorter.gather<readonly KeyArray[]>(some, indices);
      t.is(gathered.length, some.length);
      for (const [i, one] of gathered.entries()) {
        t.is(one.constructor, (some[i] as KeyArray).constructor);
        t.true(same(one, expected[i] as Uint8Array), `column ${i} of ${some.length}`);
      }
      const there = await Promise.all(some.map((one) => sorter.upload(one)));
      using order = await sorter.upload(indices);
      const moved = await sorter.gather<readonly DeviceArray[]>(there, order);
      for (const [i, one] of moved.entries()) {
        t.true(same(await one.read(), expected[i] as Uint8Array), `device column ${i} of ${some.length}`);
      }
      for (const array of [...there, ...moved]) array.dispose();
    }
    t.deepEqual(await sorter.gather([], indices), []);
    t.deepEqual(await sorter.gather([Uint8Array.of(1), Float32Array.of(2)], new Uint32Array()), [
      new Uint8Array(),
      new Float32Array(),
    ]);
    const into = [new Float64Array(2), new Uint8Array(2)] as const;
    const [doubles, bytes] = [Float64Array.of(1.5, -0, 3), Uint8Array.of(7, 8, 9)];
    t.deepEqual(await sorter.gather([doubles, bytes], Uint32Array.of(1, 2), { into }), into);
    t.deepEqual(into, [Float64Array.of(-0, 3), Uint8Array.of(8, 9)]);
    const [first, second] = await sorter.gather([doubles, bytes], Uint32Array.of(0));
    t.deepEqual(first satisfies Float64Array, Float64Array.of(1.5));
    t.deepEqual(second satisfies Uint8Array, Uint8Array.of(7));

    const by = Uint32Array.of(0, 3);
    const outside = {
      instanceOf: InputError,
      message: /indices below the number of values \(3\) for indices but got 3/,
    };
    await t.throwsAsync(sorter.gather([doubles, bytes], by), outside);
    const input = { instanceOf: InputError };
    await t.throwsAsync(sorter.gather([doubles, Uint8Array.of(1)], Uint32Array.of(0)), input);
    await t.throwsAsync(
      sorter.gather([doubles, bytes], Uint32Array.of(1, 2), { into: [into[0]] } as object),
      input,
    );
    await t.throwsAsync(
      sorter.gather([bytes, bytes], Uint32Array.of(1, 2), { into: [into[1], into[1]] }),
      input,
    );
    await t.throwsAsync(sorter.gather([bytes], Uint32Array.of(1, 2, 0), { into: [bytes] }), input);
    await t.throwsAsync(sorter.gather([doubles], by, { dtype: 'f64' }), { instanceOf: UsageError });
    using array = await sorter.upload(doubles);
    await t.throwsAsync(sorter.gather([array, bytes] as never, by), input);
  });

  test.serial(title('each of many concurrent gathers settles with its own outcome'), async (t) => {
    const sorter = await open();
    using values = await sorter.upload(Uint32Array.of(7, 8, 9));
    using right = await sorter.upload(Uint32Array.of(2, 0));
    const wrong = await Promise.all(
      [3, 1000, 2 ** 32 - 1].map((index) => sorter.upload(Uint32Array.of(1, index, 2))),
    );
    const round = async (count: number) => {
      const calls = Array.from({ length: count }, (_, i) => {
        const indices = i % 7 === 3 ? wrong[i % wrong.length] : right;
        return sorter.gather(values, indices as typeof right);
      });
      for (const [i, outcome] of (await Promise.allSettled(calls)).entries()) {
        if (i % 7 !== 3) {
          if (outcome.status === 'rejected') throw outcome.reason;
          t.deepEqual(await outcome.value.read(), Uint32Array.of(9, 7), `gather ${i}`);
          outcome.value.dispose();
          continue;
        }
        const { reason } = outcome as PromiseRejectedResult;
        t.true(reason instanceof InputError, `gather ${i}`);
        t.is(reason.details.index, [3, 1000, 2 ** 32 - 1][i % wrong.length]);
      }
    };
    // More than the device has status words for between two waits; then a few; then single ones with waits in between.
    for (const count of [small ? 20 : 600, 10, 1, 1]) await round(count);
    await t.throwsAsync(sorter.gather(values, wrong[0] as typeof right), {
      message: /indices below the number of values \(3\) for indices but got 3/,
    });
    t.deepEqual(await (await sorter.gather(values, right)).read(), Uint32Array.of(9, 7));
    for (const array of wrong) array.dispose();
  });

  test.serial(title('bins are even over a range that is wider than the largest number'), async (t) => {
    const sorter = await open();
    for (const end of [8e307, Number.MAX_VALUE]) {
      const keys = Float64Array.of(-end, -1, 1, end);
      t.deepEqual(
        [...(await sorter.histogram(keys, { bins: 4, range: [-end, end] }))],
        [1, 1, 1, 1],
        `${end}`,
      );
    }
  });

  test.serial(title('wrong arguments of the primitives are typed errors'), async (t) => {
    const sorter = await open();
    const keys = Uint32Array.of(3, 1, 2);
    await t.throwsAsync(sorter.reduce(keys, 'mean' as 'sum'), { instanceOf: UsageError });
    await t.throwsAsync(sorter.reduce(keys, 'sum', { bitRange: [0, 8] } as object), {
      instanceOf: UsageError,
    });
    await t.throwsAsync(sorter.scan(keys, { inclusive: 1 } as object), { instanceOf: UsageError });
    await t.throwsAsync(sorter.scan(keys, { into: keys }), { instanceOf: InputError });
    await t.throwsAsync(sorter.gather(keys, Uint32Array.of(0, 3)), { instanceOf: InputError, message: /3/ });
    await t.throwsAsync(sorter.gather(new Uint8Array(), Uint32Array.of(0)), { instanceOf: InputError });
    await t.throwsAsync(sorter.gather(keys, Float32Array.of(1) as never), { instanceOf: InputError });
    await t.throwsAsync(sorter.gather(keys, keys), { instanceOf: InputError });
    using array = await sorter.upload(keys);
    await t.throwsAsync(sorter.gather(array, keys as never), { instanceOf: InputError });
    for (const options of [
      {},
      { bins: 3 },
      { bins: 0, range: [0, 1] },
      { bins: 65_537, range: [0, 1] },
      { bins: 2, range: [1, 1] },
      { bins: 2, range: [0, Number.NaN] },
      { bins: 2, range: [0, Number.POSITIVE_INFINITY] },
      { bins: 2, range: [0n, 1] },
      { edges: [] },
      { edges: [1] },
      { edges: [1, 1] },
      { edges: [0, Number.NaN] },
      { edges: [Number.NaN, 0] },
      { edges: ['a', 'b'] },
      { edges: [false, true] },
      { edges: null },
      { bins: 2, range: ['0', '9'] },
      { bins: 2, range: 5 },
      { bins: 2, range: null },
      { edges: [0, 1], bins: 1 },
      { edges: [0, 1], bin: 1 },
      { bitRange: [0, 8], bins: 2, range: [0, 1] },
      { bitRange: [3, 3] },
      { bitRange: [0, 17] },
      { bitRange: [8, 0] },
      { bitRange: [30, 33] },
    ]) {
      const wrong = sorter.histogram(keys, options as object);
      await t.throwsAsync(
        wrong,
        { instanceOf: UsageError },
        JSON.stringify(options, (_, value) => String(value)),
      );
    }
    await t.throwsAsync(sorter.histogram(Float32Array.of(1), { edges: [0n, 1n] }), {
      instanceOf: UsageError,
    });
    const signal = AbortSignal.abort();
    await t.throwsAsync(sorter.reduce(keys, 'sum', { signal }), { code: 'ERR_CLSORT_ABORTED' });
  });
});

forEachDevice((title, open) => {
  test.serial(title('without fp64 the host sums doubles and warns'), async (t) => {
    const device = await open();
    const { capabilities } = device;
    const warnings: ClsortError[] = [];
    const by: CallContext = {
      backend: new DeviceBackend(device),
      settings: parseSortOptions(),
      onWarning: (warning) => warnings.push(warning),
    };
    const run = <T>(use: ExecutionBody<T>): Promise<T> => Execution.run(by, use);
    const scanned = async (call: Call, keys: Column, place: Place, inclusive: boolean) => {
      await enqueueScan(call, keys, column('f64', 3, place), { op: 'sum', inclusive });
      return () => undefined;
    };
    const onDevice = device.buffer(24);
    Object.assign(device, { capabilities: { ...capabilities, fp64: false } });
    try {
      const numbers = Float64Array.of(1.5, 2.5, -1);
      device.queue.write(onDevice, numbers);
      for (const place of [numbers, onDevice]) {
        const keys = column('f64', 3, place);
        t.is(await run((call) => enqueueReduce(call, keys, 'sum')), 3);
        t.is(await run((call) => enqueueReduce(call, keys, 'max')), 2.5); // by codes, which need none
        const sums = new Float64Array(3);
        await run((call) => scanned(call, keys, sums, true));
        t.deepEqual(sums, Float64Array.of(1.5, 4, 3));
        await run((call) => scanned(call, keys, onDevice, false));
        device.queue.read(onDevice, sums);
        await device.queue.finish();
        t.deepEqual(sums, Float64Array.of(0, 1.5, 4));
        device.queue.write(onDevice, numbers);
      }
      t.is(warnings.length, 6);
      for (const { message } of warnings) t.regex(message, /does not support fp64; falling back to the host/);
    } finally {
      Object.assign(device, { capabilities });
      onDevice.release();
    }
  });
});

test('the functions of the default Sorter give the same results', async (t) => {
  const keys = Int32Array.of(5, -3, 8);
  const device = 'host';
  t.is(await library.reduce(keys, 'sum', { device }), 10n);
  t.deepEqual(await library.scan(keys, { device }), Int32Array.of(0, 5, 2));
  t.deepEqual(await library.histogram(keys, { device, bins: 2, range: [-4, 8] }), Uint32Array.of(1, 2));
  t.deepEqual(await library.gather(keys, Uint32Array.of(2, 0), { device }), Int32Array.of(8, 5));
  await library.closeAll();
  const sorter = await library.Sorter.open({ device });
  await t.throwsAsync(sorter.reduce(keys, 'sum', { device: 'cpu' }), { instanceOf: UsageError });
  await sorter.close();
});
