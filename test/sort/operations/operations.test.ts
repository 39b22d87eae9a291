/** topK, lexsort, unique and segmentedSort, on the host and on devices, against plain references. */
import test from 'ava';
import fc from 'fast-check';
import { type Dtype, dtypeInfo, type KeyArray } from '../../../src/keys/dtype.js';
import type { Order } from '../../../src/keys/key-codec.js';
import { InputError, UsageError } from '../../../src/util/errors.js';
import { dtypesOn, keysOf, SEED } from '../../distributions.js';
import { forEachSorter } from '../../each-sorter.js';
import {
  canonicalPatterns,
  pick,
  referenceArgsort,
  referenceLexsort,
  referenceSort,
} from '../../reference.js';

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
const same = (a: ArrayBufferView, b: ArrayBufferView) => Buffer.compare(bytesOf(a), bytesOf(b)) === 0;

const ORDERS: readonly Order[] = [
  {},
  { descending: true },
  { nan: 'first' },
  { descending: true, nan: 'first' },
];

/** Bit patterns with many equal keys, zeros and NaNs among them. */
const special = (dtype: Dtype, n: number): KeyArray => keysOf(dtype, 'special', n);

forEachSorter((title, open, small) => {
  const sizes = small ? [1, 2, 33, 257] : [1, 2, 3, 33, 257, 4095, 4096, 20_011];

  for (const dtype of dtypesOn(small)) {
    test.serial(title(`topK of ${dtype} equals the first k of a stable sort`), async (t) => {
      const sorter = await open();
      for (const n of sizes) {
        for (const keys of [keysOf(dtype, 'uniform', n), special(dtype, n)]) {
          for (const { descending = false, nan = 'last' } of n > 300 ? ORDERS.slice(1, 3) : ORDERS) {
            const order = { descending, nan } as const;
            const positions = referenceArgsort(bytesOf(keys), dtype, order);
            for (const k of [0, 1, 10, Math.floor(n / 4), n, n + 5]) {
              const expected = positions.slice(0, k);
              const share = pick(bytesOf(keys), dtypeInfo(dtype).bytes, expected);
              for (const select of [300, 10_000]) {
                const options = { dtype, largest: descending, nan, advanced: { tuning: { select } } };
                const top = await sorter.topK(keys, k, options);
                const what = `${n} ${k} ${select} ${JSON.stringify(order)} seed ${SEED}`;
                t.deepEqual([...top.indices], expected, what);
                t.true(same(top.keys, share), what);
              }
            }
          }
        }
      }
    });

    test.serial(
      title(`unique of ${dtype} counts equal numbers and keeps the bits of the first`),
      async (t) => {
        const sorter = await open();
        for (const n of sizes) {
          for (const keys of [keysOf(dtype, 'uniform', n), special(dtype, n)]) {
            for (const order of n > 300 ? ORDERS.slice(0, 1) : ORDERS) {
              const canonical = canonicalPatterns(bytesOf(keys), dtype);
              const firsts: number[] = [];
              const counts: number[] = [];
              for (const position of referenceLexsort([{ bytes: bytesOf(keys), dtype, order }])) {
                const last = firsts.at(-1);
                if (last !== undefined && canonical[last] === canonical[position]) {
                  counts[counts.length - 1] = (counts.at(-1) ?? 0) + 1;
                } else {
                  firsts.push(position);
                  counts.push(1);
                }
              }
              const result = await sorter.unique(keys, { dtype, ...order });
              t.deepEqual([...result.counts], counts, `${n} ${JSON.stringify(order)} seed ${SEED}`);
              t.true(same(result.keys, pick(bytesOf(keys), dtypeInfo(dtype).bytes, firsts)));
            }
          }
        }
      },
    );

    test.serial(title(`segmentedSort of ${dtype} sorts each segment, empty ones included`), async (t) => {
      const sorter = await open();
      const n = small ? 257 : 3001;
      const keys = special(dtype, n);
      const unit = dtypeInfo(dtype).bytes;
      const shapes: Record<string, number[]> = {
        one: [0, n],
        ones: Array.from({ length: n + 1 }, (_, i) => i),
        'empty ones': [0, 0, 0, 5, 5, 100, 100, n, n],
        threes: [...Array.from({ length: Math.ceil(n / 3) }, (_, i) => 3 * i), n],
        'small and large': [0, 1, 200, 201, n],
      };
      for (const [name, offsets] of Object.entries(shapes)) {
        for (const order of ORDERS.slice(0, 2)) {
          const sorted = await sorter.segmentedSort(keys, offsets, { dtype, ...order });
          const expected = Buffer.concat(
            offsets
              .slice(1)
              .map((end, s) =>
                referenceSort(bytesOf(keys).subarray((offsets[s] ?? 0) * unit, end * unit), dtype, order),
              ),
          );
          t.true(same(sorted, expected), `${name} ${JSON.stringify(order)} seed ${SEED}`);
        }
      }
    });
  }

  test.serial(title('pairs and positions are sorted by segment, in both forms of positions'), async (t) => {
    const sorter = await open();
    const n = small ? 600 : 20_000;
    const cuts = [0, 0, 1, 3, 12, 60, 125, 125, 254, small ? 500 : 9000, n];
    for (const [i, dtype] of dtypesOn(small).entries()) {
      const keys = special(dtype, n);
      const order = ORDERS[i % ORDERS.length] as Order;
      const unit = dtypeInfo(dtype).bytes;
      const inSegments = cuts.slice(1).map((end, s) => {
        const begin = cuts[s] as number;
        return referenceArgsort(bytesOf(keys).subarray(begin * unit, end * unit), dtype, order);
      });
      const within = inSegments.flat();
      const absolute = inSegments.flatMap((positions, s) => positions.map((at) => at + (cuts[s] as number)));
      for (const verify of [false, true]) {
        const options = { dtype, ...order, verify };
        t.deepEqual([...(await sorter.segmentedArgsort(keys, cuts, options))], absolute, `${dtype} ${SEED}`);
        const counted = await sorter.segmentedArgsort(keys, cuts, { ...options, positions: 'segment' });
        t.deepEqual([...counted], within, `${dtype} ${SEED}`);
        for (const width of [1, 4, 8, 12, 16]) {
          const values = new Uint8Array(n * width).map((_, at) => Math.imul(at, 2654435761) >>> 24);
          const pairs = await sorter.segmentedSortPairs(keys, values, cuts, options);
          t.true(same(pairs.keys, pick(bytesOf(keys), unit, absolute)), `${dtype} ${width} ${SEED}`);
          t.true(same(pairs.values, pick(values, width, absolute)), `${dtype} ${width} ${SEED}`);
        }
      }
    }
  });

  test.serial(title('rows of one length are sorted like segments that are given by offsets'), async (t) => {
    const sorter = await open();
    for (const [i, dtype] of dtypesOn(small).entries()) {
      const all =
        small || dtype !== 'u32' ? [[5, 40] as const] : [[300, 7] as const, [90, 100], [3, 4000], [1, 500]];
      for (const [rows, each] of all) {
        const n = rows * each;
        const keys = special(dtype, n);
        const offsets = Uint32Array.from({ length: rows + 1 }, (_, s) => s * each);
        const values = Uint32Array.from({ length: n }, (_, at) => at * 3);
        using there = await sorter.upload(keys, { dtype });
        using beside = await sorter.upload(values);
        const options = { dtype, ...(ORDERS[i % ORDERS.length] as Order), verify: (i + each) % 2 === 0 };
        const what = `${dtype} ${rows} × ${each} ${JSON.stringify(options)} seed ${SEED}`;
        const sorted = await sorter.segmentedSort(keys, offsets, options);
        t.true(same(await sorter.segmentedSort(keys, each, options), sorted), what);
        using onDevice = await sorter.segmentedSort(there, each, options);
        t.true(same(await onDevice.read(), sorted), what);
        for (const positions of ['array', 'segment'] as const) {
          const order = await sorter.segmentedArgsort(keys, offsets, { ...options, positions });
          t.deepEqual(await sorter.segmentedArgsort(keys, each, { ...options, positions }), order, what);
          using found = await sorter.segmentedArgsort(there, each, { ...options, positions });
          t.deepEqual(await found.read(), order, what);
        }
        const pairs = await sorter.segmentedSortPairs(keys, values, offsets, options);
        t.deepEqual(
          (await sorter.segmentedSortPairs(keys, values, each, options)).values,
          pairs.values,
          what,
        );
        const moved = await sorter.segmentedSortPairs(there, beside, each, options);
        t.deepEqual(await moved.values.read(), pairs.values, what);
        for (const k of [0, 1, 5, each + 1]) {
          const top = await sorter.topKSegments(keys, offsets, k, { dtype });
          t.is(top.keys.length, rows * Math.min(k, each), what);
          t.deepEqual(await sorter.topKSegments(keys, each, k, { dtype }), top, what);
          const first = await sorter.topKSegments(there, each, k);
          t.true(same(await first.keys.read(), top.keys), what);
          t.deepEqual(await first.indices.read(), top.indices, what);
          t.deepEqual(await first.offsets.read(), top.offsets, what);
          for (const part of Object.values(first)) part.dispose();
        }
        moved.keys.dispose();
        moved.values.dispose();
      }
    }
    t.deepEqual(await sorter.segmentedSort(new Float32Array(0), 8), new Float32Array(0));
    for (const each of [0, -3, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 7, 101]) {
      const error = await t.throwsAsync(sorter.segmentedSort(new Float32Array(100), each), {
        instanceOf: InputError,
      });
      t.regex(error.message, /divides the number of keys \(100\)/);
    }
  });

  test.serial(title('algorithms without segment support sort segments, also by a bit window'), async (t) => {
    const sorter = await open();
    const keys = keysOf('u32', 'uniform', 700) as Uint32Array;
    const cuts = [0, 0, 300, 310, 311, 700];
    const bits = [3, 12] as const;
    const inSegments = cuts.slice(1).map((end, s) => {
      const compared = keys.slice(cuts[s], end).map((key) => (key >>> 3) & 511);
      return [...compared.keys()].sort((a, b) => (compared[a] ?? 0) - (compared[b] ?? 0) || a - b);
    });
    const within = inSegments.flat();
    const absolute = inSegments.flatMap((positions, s) => positions.map((at) => at + (cuts[s] as number)));
    const sorted = Uint32Array.from(absolute, (at) => keys[at] as number);
    const algorithms = sorter.device
      ? (['auto', 'segmented', 'merge'] as const)
      : (['auto', 'host'] as const);
    for (const algorithm of algorithms) {
      const options = { algorithm, bitRange: bits };
      t.deepEqual(await sorter.segmentedSort(keys, cuts, options), sorted, algorithm);
      t.deepEqual([...(await sorter.segmentedArgsort(keys, cuts, options))], absolute, algorithm);
      const counted = await sorter.segmentedArgsort(keys, cuts, { ...options, positions: 'segment' });
      t.deepEqual([...counted], within, algorithm);
      const pairs = await sorter.segmentedSortPairs(
        keys,
        keys.map((_, i) => i),
        cuts,
        options,
      );
      t.deepEqual(pairs, { keys: sorted, values: Uint32Array.from(absolute) }, algorithm);
    }
  });

  test.serial(title('segment offsets may be on the device, and wrong ones are found there'), async (t) => {
    const sorter = await open();
    const n = small ? 700 : 30_000;
    const keys = keysOf('f32', 'uniform', n) as Float32Array;
    using there = await sorter.upload(keys);
    const right = Uint32Array.of(0, 0, 5, 90, 90, 600, n);
    const expected = await sorter.segmentedSort(keys, right, { algorithm: sorter.device ? 'merge' : 'host' });
    const positions = await sorter.segmentedArgsort(keys, right);
    const wrongs: Record<string, { offsets: number[]; at: number }> = {
      'begins late': { offsets: [1, 5, n], at: 0 },
      'ends early': { offsets: [0, 5, n - 1], at: 2 },
      'ends late': { offsets: [0, 5, n + 1], at: 2 },
      'leads beyond': { offsets: [0, 2 ** 32 - 1, n], at: 1 },
      falls: { offsets: [0, 5, 4, n], at: 2 },
      'no segment': { offsets: [0], at: 0 },
      'to and fro': { offsets: Array.from({ length: 4001 }, (_, i) => (i % 2 === 0 ? 0 : n - 1)), at: 2 },
    };
    for (const offsets of [right, await sorter.upload(right)]) {
      t.true(same(await sorter.segmentedSort(keys, offsets, { verify: true }), expected));
      using sorted = await sorter.segmentedSort(there, offsets, { verify: true });
      t.true(same(await sorted.read(), expected));
      using order = await sorter.segmentedArgsort(there, offsets);
      t.deepEqual(await order.read(), positions);
    }
    for (const [name, { offsets, at }] of Object.entries(wrongs)) {
      using upload = await sorter.upload(Uint32Array.from(offsets));
      for (const given of [keys, there]) {
        for (const verify of [false, true]) {
          const error = await t.throwsAsync(
            sorter.segmentedSort<Float32Array | typeof there>(given, upload, { verify }),
            { instanceOf: InputError },
            name,
          );
          if (offsets.length > 1) t.is((error as InputError).details.offset, at, name);
        }
      }
    }
    await t.throwsAsync(sorter.segmentedSort(keys, (await sorter.upload(Int32Array.of(0, n))) as never), {
      instanceOf: UsageError,
    });
    using again = await sorter.segmentedSort(there, right);
    t.true(same(await again.read(), expected), 'and the device still sorts');
  });

  test.serial(title('lexsort orders rows by three columns, each in its own direction'), async (t) => {
    const sorter = await open();
    for (const n of small ? [1, 257] : [1, 2, 257, 5003]) {
      const grades = Int8Array.from({ length: n }, (_, i) => (i * 7) % 5);
      const prices = special('f32', n) as Float32Array;
      const ids = special('f64', n) as Float64Array;
      const order = await sorter.lexsort(
        [grades, { keys: prices, descending: true }, { keys: ids, nan: 'first' }],
        { verify: true },
      );
      const expected = referenceLexsort([
        { bytes: bytesOf(grades), dtype: 'i8' },
        { bytes: bytesOf(prices), dtype: 'f32', order: { descending: true } },
        { bytes: bytesOf(ids), dtype: 'f64', order: { nan: 'first' } },
      ]);
      t.deepEqual([...order], expected, `${n}, seed ${SEED}`);
    }
  });

  test.serial(title('lexsort orders by columns that fit into one key, and by more columns'), async (t) => {
    const sorter = await open();
    const n = small ? 200 : 3001;
    const few = (dtype: Dtype, seed: bigint) => {
      const keys = keysOf(dtype, 'special', 7, seed);
      const picked = special(dtype, n);
      bytesOf(picked).set(
        pick(
          bytesOf(keys),
          dtypeInfo(dtype).bytes,
          Array.from({ length: n }, (_, i) => (i * 31 + Number(seed)) % 7),
        ),
      );
      return picked;
    };
    const lists: readonly (readonly Dtype[])[] = [
      ['u8', 'i8'],
      ['u16', 'f16'],
      ['f32', 'i32'],
      ['f16', 'u8', 'f32', 'i8'],
      ['u64', 'u8', 'i16', 'f32', 'u8', 'f64', 'i8'],
    ];
    for (const [l, dtypes] of lists.entries()) {
      const columns = dtypes.map((dtype, i) => {
        const order = ORDERS[(i + l) % ORDERS.length] as Order;
        return { keys: few(dtype, BigInt(i)), dtype, ...order };
      });
      const expected = referenceLexsort(
        columns.map(({ keys, dtype, ...order }) => ({ bytes: bytesOf(keys), dtype, order })),
      );
      t.deepEqual([...(await sorter.lexsort(columns))], expected, `${dtypes} seed ${SEED}`);
    }
  });

  test.serial(title('lexsort of device arrays returns positions on the device'), async (t) => {
    const sorter = await open();
    const n = 200;
    const a = Uint8Array.from({ length: n }, (_, i) => (i * 31) % 3);
    const b = keysOf('u8', 'uniform', n) as Uint8Array;
    using x = await sorter.upload(a);
    using y = await sorter.upload(b);
    using order = await sorter.lexsort([x, { keys: y, descending: true }]);
    t.deepEqual(await order.read(), await sorter.lexsort([a, { keys: b, descending: true }]));
  });

  test.serial(title('unique and segmentedSort of device arrays return device arrays'), async (t) => {
    const sorter = await open();
    const keys = special('f32', 500) as Float32Array;
    using array = await sorter.upload(keys);
    const distinct = await sorter.unique(array);
    const expected = await sorter.unique(keys);
    t.true(same(await distinct.keys.read(), expected.keys));
    t.deepEqual(await distinct.counts.read(), expected.counts);
    distinct.keys.dispose();
    distinct.counts.dispose();
    using sorted = await sorter.segmentedSort(array, [0, 100, 500]);
    t.true(same(await sorted.read(), await sorter.segmentedSort(keys, [0, 100, 500])));
  });

  test.serial(title('topK of many equal keys takes the first ones'), async (t) => {
    const sorter = await open();
    const keys = new Uint32Array(small ? 5000 : 100_000).fill(7);
    keys[4500] = 9;
    for (const select of [100, 200_000]) {
      const { keys: top, indices } = await sorter.topK(keys, 4, { advanced: { tuning: { select } } });
      t.deepEqual(top, Uint32Array.of(9, 7, 7, 7));
      t.deepEqual(indices, Uint32Array.of(4500, 0, 1, 2));
    }
    const { indices: window } = await sorter.topK(keys, 3, { bitRange: [0, 1] });
    t.deepEqual(window, Uint32Array.of(0, 1, 2));
  });

  test.serial(title('topK sorts the keys that it has selected, or all if that is faster'), async (t) => {
    const sorter = await open();
    const keys = keysOf('u32', 'uniform', 5000) as Uint32Array;
    const sortedKeys = async (select?: number): Promise<number | undefined> => {
      let sorted: number | undefined;
      const onReport = ({ n }: { n: number }): void => {
        sorted = n;
      };
      await sorter.topK(keys, 3, {
        onReport,
        ...(select !== undefined && { advanced: { tuning: { select } } }),
      });
      return sorted;
    };
    t.is(await sortedKeys(4999), 3);
    t.is(await sortedKeys(5000), 5000);
    t.is(await sortedKeys(), /portable/i.test(sorter.device?.platform ?? '') ? 5000 : 3);
  });

  test.serial(title('topK, unique and segments of random keys agree with plain JavaScript'), async (t) => {
    const sorter = await open();
    const property = fc.asyncProperty(
      fc.uint32Array({ maxLength: 600, max: 50 }),
      fc.nat(700),
      fc.array(fc.nat(600), { maxLength: 20 }),
      async (keys, k, cuts) => {
        const { keys: top } = await sorter.topK(keys, k);
        t.deepEqual(top, keys.toSorted().reverse().slice(0, k));
        const { keys: distinct, counts } = await sorter.unique(keys);
        t.deepEqual([...distinct], [...new Set(keys.toSorted())]);
        t.deepEqual(
          [...counts],
          [...distinct].map((key) => keys.filter((other) => other === key).length),
        );
        t.deepEqual(await sorter.unique(distinct), { keys: distinct, counts: counts.fill(1) }, 'idempotent');
        const inner = cuts.map((cut) => Math.min(cut, keys.length)).sort((a, b) => a - b);
        const offsets = [0, ...inner, keys.length];
        const sorted = await sorter.segmentedSort(keys, offsets);
        offsets.slice(1).forEach((end, s) => {
          t.deepEqual(sorted.slice(offsets[s], end), keys.slice(offsets[s], end).sort());
        });
      },
    );
    await fc.assert(property, { numRuns: small ? 5 : 40, seed: Number(SEED) });
  });

  test.serial(title('wrong arguments are typed errors'), async (t) => {
    const sorter = await open();
    const keys = Uint32Array.of(3, 1, 2);
    await t.throwsAsync(sorter.topK(keys, -1), { instanceOf: UsageError });
    await t.throwsAsync(sorter.topK(keys, 1.5), { instanceOf: UsageError });
    await t.throwsAsync(sorter.topK(keys, 1, { descending: true } as object), { instanceOf: UsageError });
    await t.throwsAsync(sorter.topK(keys, 1, { largest: 1 } as object), { instanceOf: UsageError });
    await t.throwsAsync(sorter.lexsort([]), { instanceOf: InputError });
    await t.throwsAsync(sorter.lexsort([keys, Uint8Array.of(1)]), { instanceOf: InputError });
    await t.throwsAsync(sorter.lexsort([keys], { bitRange: [0, 8] } as object), { instanceOf: UsageError });
    await t.throwsAsync(sorter.unique(keys, { bitRange: [0, 8] } as object), { instanceOf: UsageError });
    for (const offsets of [[], [0], [1, 3], [0, 2], [0, 2, 1, 3], [0, 1.5, 3], [0, Number.NaN, 3]]) {
      await t.throwsAsync(sorter.segmentedSort(keys, offsets), { instanceOf: InputError }, String(offsets));
    }
  });
});
