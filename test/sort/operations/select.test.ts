/** filter, partition, searchSorted, merge, reduceByKey and topKSegments, on the host and on devices, against plain loops. */
import test from 'ava';
import * as library from '../../../src/index.js';
import { DTYPES, type Dtype, dtypeInfo, type KeyArray } from '../../../src/keys/dtype.js';
import { keyValue } from '../../../src/keys/value.js';
import { InputError, UnsupportedError, UsageError } from '../../../src/util/errors.js';
import { dtypesOn, keysOf, SEED } from '../../distributions.js';
import { forEachSorter } from '../../each-sorter.js';
import {
  canonicalPatterns,
  patterns,
  pick,
  referenceArgsort,
  referenceCode,
  referenceLexsort,
  referenceSort,
} from '../../reference.js';

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
const same = (a: ArrayBufferView, b: ArrayBufferView) => Buffer.compare(bytesOf(a), bytesOf(b)) === 0;
const valuesOf = (keys: KeyArray, dtype: Dtype) =>
  patterns(bytesOf(keys), dtype).map((bits) => keyValue(bits, dtypeInfo(dtype)));
const isFloat = (dtype: Dtype) => dtypeInfo(dtype).kind === 'float';
const picked = (keys: KeyArray, dtype: Dtype, positions: readonly number[]) =>
  pick(bytesOf(keys), dtypeInfo(dtype).bytes, positions);

type Number_ = number | bigint;
const holds = (
  value: Number_,
  { from, above, below, upTo, equal, nan, not = false }: library.Predicate,
): boolean => {
  const all =
    (from === undefined || value >= from) &&
    (above === undefined || value > above) &&
    (below === undefined || value < below) &&
    (upTo === undefined || value <= upTo) &&
    // biome-ignore lint/suspicious/noDoubleEquals: a number and a BigInt may be equal
    (equal === undefined || value == equal) &&
    !(Number.isNaN(value) && nan === undefined) &&
    (nan === undefined || Number.isNaN(value));
  return all !== not;
};

const predicates = (dtype: Dtype, values: readonly Number_[]): library.Predicate[] => {
  const some = values.find((value) => !Number.isNaN(value)) ?? 0;
  const whole = isFloat(dtype) ? [] : [{ from: BigInt(some), below: 2n ** 70n }, { equal: BigInt(some) }];
  return [
    { below: some },
    { from: some },
    { above: some, not: true },
    { upTo: some },
    { equal: some },
    { equal: 0 },
    { from: -0.5, upTo: 100.5 },
    { above: 3, below: 3 },
    { from: 2 ** 80 },
    { below: -(2 ** 80), not: true },
    { upTo: Number.POSITIVE_INFINITY },
    { nan: true },
    { nan: true, not: true },
    ...whole,
  ];
};

forEachSorter((title, open, small) => {
  const sizes = small ? [0, 1, 65, 257] : [0, 1, 2, 65, 1025, 9011];

  for (const dtype of dtypesOn(small)) {
    test.serial(title(`filter and partition of ${dtype} select by predicates and masks`), async (t) => {
      const sorter = await open();
      for (const n of sizes) {
        const keys = keysOf(dtype, n % 2 ? 'special' : 'uniform', n);
        const values = valuesOf(keys, dtype);
        const places = Array.from(values.keys());
        const mask = Uint8Array.from(places, (i) => ((i * 7919) % 5 < 2 ? (i % 255) + 1 : 0));
        const some = predicates(dtype, values);
        for (const by of [mask, ...(n > 300 ? some.slice(n % 2, 4) : some)]) {
          const isChosen = (i: number) =>
            by instanceof Uint8Array ? by[i] !== 0 : holds(values[i] as Number_, by);
          const chosen = places.filter(isChosen);
          const all = [...chosen, ...places.filter((i) => !isChosen(i))];
          const what = `${n} ${by instanceof Uint8Array ? 'mask' : Object.entries(by)} seed ${SEED}`;
          const filtered = await sorter.filter(keys, by, { dtype });
          t.is(filtered.constructor, keys.constructor);
          t.true(same(filtered, picked(keys, dtype, chosen)), `filter ${what}`);
          const parted = await sorter.partition(keys, by, { dtype });
          t.is(parted.count, chosen.length, what);
          t.true(same(parted.keys, picked(keys, dtype, all)), `partition ${what}`);
        }
      }
    });

    test.serial(title(`searchSorted and merge of ${dtype} are correct in every order`), async (t) => {
      const sorter = await open();
      for (const [length, n] of small
        ? [[40, 33]]
        : [
            [0, 5],
            [5, 0],
            [1, 1],
            [513, 2050],
            [7001, 600],
          ]) {
        const [a, b] = [
          keysOf(dtype, 'special', length as number, 3n),
          keysOf(dtype, 'special', n as number, 4n),
        ];
        for (const descending of [false, true]) {
          const order = { descending, nan: descending ? 'first' : 'last' } as const;
          const code = (bits: bigint) => referenceCode(dtype, order, bits);
          const [left, right] = [a, b].map((keys) => {
            const sorted = keys.slice();
            bytesOf(sorted).set(referenceSort(bytesOf(keys), dtype, order));
            return sorted;
          }) as [KeyArray, KeyArray];
          const what = `${length} ${n} ${descending} seed ${SEED}`;
          const both = Buffer.concat([bytesOf(left), bytesOf(right)]);
          const merged = await sorter.merge(left, right, { dtype, ...order });
          t.true(same(merged, referenceSort(both, dtype, order)), `merge ${what}`);
          const codes = patterns(bytesOf(left), dtype).map(code);
          for (const side of ['left', 'right'] as const) {
            const places = await sorter.searchSorted(left, b, { dtype, side, ...order });
            const expected = patterns(bytesOf(b), dtype)
              .map(code)
              .map((key) => codes.filter((other) => (side === 'left' ? other < key : other <= key)).length);
            t.deepEqual([...places], expected, `${side} ${what}`);
          }
        }
      }
    });

    test.serial(title(`reduceByKey groups by ${dtype} keys and reduces ${dtype} values`), async (t) => {
      const sorter = await open();
      const onWarning = () => undefined;
      for (const n of sizes) {
        const keys = keysOf(dtype, 'special', n);
        const canonical = canonicalPatterns(bytesOf(keys), dtype);
        const runs: number[][] = [];
        for (const i of referenceLexsort([{ bytes: bytesOf(keys), dtype }])) {
          const run = runs.at(-1);
          if (run && canonical[run[0] as number] === canonical[i]) run.push(i);
          else runs.push([i]);
        }
        const amounts = Int32Array.from({ length: n }, (_, i) => ((i * 7919) % 2003) - 1000);
        const found = await sorter.reduceByKey(keys, amounts, 'sum', { dtype });
        t.true(
          same(
            found.keys,
            picked(
              keys,
              dtype,
              runs.map(([first]) => first as number),
            ),
          ),
          `${n} ${SEED}`,
        );
        const sums = runs.map((run) => run.reduce((sum, i) => sum + BigInt(amounts[i] as number), 0n));
        t.deepEqual(found.values, BigInt64Array.from(sums));
        if (n > 2000 && small) continue;
        // The keys as values, with runs of every length.
        const groups = Uint32Array.from({ length: n }, (_, i) => Math.floor(Math.sqrt(i / 3)) % 97);
        const values = valuesOf(keys, dtype);
        const bitsOf = patterns(bytesOf(keys), dtype);
        for (const op of ['min', 'max', 'sum'] as const) {
          if (op === 'sum' && isFloat(dtype)) continue;
          if (keys.constructor === Uint16Array && dtype.endsWith('f16')) continue; // otherwise they would be u16 values
          const { values: reduced } = await sorter.reduceByKey(groups, keys, op, { onWarning });
          const byGroup = new Map<number, number[]>();
          groups.forEach((group, i) => {
            const run = byGroup.get(group);
            if (run) run.push(i);
            else byGroup.set(group, [i]);
          });
          const expected = [...byGroup.entries()]
            .toSorted(([x], [y]) => x - y)
            .map(([, run]) => {
              if (op === 'sum') return run.reduce((sum, i) => sum + BigInt(values[i] as Number_), 0n);
              const order = referenceArgsort(picked(keys, dtype, run), dtype, {
                nan: op === 'min' ? 'first' : 'last',
              });
              return bitsOf[run[(op === 'min' ? order[0] : order.at(-1)) as number] as number];
            }) as bigint[];
          const bits =
            op === 'sum' ? Array.from(reduced as BigInt64Array) : patterns(bytesOf(reduced), dtype);
          const wrap = dtype.startsWith('u') ? BigInt.asUintN : BigInt.asIntN;
          t.deepEqual(
            bits,
            op === 'sum' ? expected.map((sum) => wrap(64, sum)) : expected,
            `${op} ${n} ${SEED}`,
          );
        }
      }
    });

    test.serial(title(`topKSegments of ${dtype} equals the first k of each sorted segment`), async (t) => {
      const sorter = await open();
      const n = small ? 257 : 3001;
      const keys = keysOf(dtype, 'special', n);
      const unit = dtypeInfo(dtype).bytes;
      for (const offsets of [
        [0, n],
        [0, 0, 5, 5, 100, 101, 101, n, n],
        Array.from({ length: n + 1 }, (_, i) => i),
      ]) {
        for (const [k, largest] of [
          [0, true],
          [1, false],
          [10, true],
          [n, false],
        ] as const) {
          const positions: number[] = [];
          const begins = [0];
          for (const [s, end] of offsets.slice(1).entries()) {
            const begin = offsets[s] as number;
            const order = referenceArgsort(bytesOf(keys).subarray(begin * unit, end * unit), dtype, {
              descending: largest,
            });
            positions.push(...order.slice(0, k).map((i) => begin + i));
            begins.push(positions.length);
          }
          const what = `${offsets.length} ${k} ${largest} seed ${SEED}`;
          const top = await sorter.topKSegments(keys, offsets, k, { dtype, largest });
          t.deepEqual([...top.offsets], begins, what);
          t.deepEqual([...top.indices], positions, what);
          t.true(same(top.keys, picked(keys, dtype, positions)), what);
          const inSegment = await sorter.topKSegments(keys, offsets, k, {
            dtype,
            largest,
            positions: 'segment',
          });
          const segmentOf = (i: number) => begins.findLastIndex((begin) => begin <= i);
          t.deepEqual(
            [...inSegment.indices],
            positions.map((position, i) => position - (offsets[segmentOf(i)] as number)),
            what,
          );
        }
      }
    });
  }

  for (const dtype of small ? (['u8', 'f32'] as const) : DTYPES) {
    test.serial(
      title(`topKSegments of ${dtype} are selected from long segments, with ties in input order`),
      async (t) => {
        const sorter = await open();
        // On devices where few keys take long, the long segments are short enough for a group.
        const lengths = small ? [0, 1, 1500, 40] : [0, 1, 5000, 3, 0, 2900, 257, 1];
        const offsets = [0];
        for (const length of lengths) offsets.push((offsets.at(-1) as number) + length);
        const n = offsets.at(-1) as number;
        const unit = dtypeInfo(dtype).bytes;
        // Few values: most keys have equals.
        const few = keysOf(dtype, 'special', n);
        bytesOf(few).copyWithin(11 * unit, 3 * unit, (n - 8) * unit);
        using device = await sorter.upload(Uint32Array.from(offsets));
        for (const keys of [keysOf(dtype, 'uniform', n), few]) {
          for (const [k, largest] of [
            [1, true],
            [7, false],
            [300, true],
            ...(small ? [] : [[700, false] as const]),
          ] as const) {
            const [positions, begins]: [number[], number[]] = [[], [0]];
            for (const [s, end] of offsets.slice(1).entries()) {
              const begin = offsets[s] as number;
              const part = bytesOf(keys).subarray(begin * unit, end * unit);
              const order = referenceArgsort(part, dtype, { descending: largest });
              positions.push(...order.slice(0, k).map((i) => begin + i));
              begins.push(positions.length);
            }
            const options = { dtype, largest, verify: true, advanced: { tuning: { select: 0 } } };
            const what = `${k} ${largest} seed ${SEED}`;
            const top = await sorter.topKSegments(keys, offsets, k, options);
            t.deepEqual([...top.offsets], begins, what);
            t.deepEqual([...top.indices], positions, what);
            t.true(same(top.keys, picked(keys, dtype, positions)), what);
            // Offsets on the device are not checked.
            using there = await sorter.upload(keys, { dtype });
            const found = await sorter.topKSegments(there, device, k, {
              largest,
              advanced: { tuning: { select: 0 } },
            });
            t.deepEqual([...(await found.indices.read())], positions, what);
            for (const array of [found.keys, found.indices, found.offsets]) array.dispose();
          }
        }
        using there = await sorter.upload(few, { dtype });
        for (const wrong of [
          [0, 200, 100, n],
          [1, 200, n],
          [0, 200, n - 1],
          [0, 200, n + 1],
        ]) {
          using by = await sorter.upload(Uint32Array.from(wrong));
          await t.throwsAsync(sorter.topKSegments(there, by, 1, { advanced: { tuning: { select: 0 } } }), {
            instanceOf: InputError,
          });
        }
      },
    );
  }

  for (const dtype of small ? (['i16', 'f64'] as const) : DTYPES) {
    test.serial(
      title(
        `topKSegments of ${dtype} are selected from short segments by a group each, with ties in input order`,
      ),
      async (t) => {
        const sorter = await open();
        const unit = dtypeInfo(dtype).bytes;
        const shapes = [
          { lengths: [0, 1, 2, 63, 64, 65, 0, 40], ks: small ? [10] : [1, 10, 64] },
          ...(small ? [] : [{ lengths: [512, 0, 511, 7, 300], ks: [5, 128] }]),
          ...(small ? [] : [{ lengths: [4096, 1, 513, 2047, 0, 0, 129], ks: [3, 129, 512] }]),
          { lengths: [30, 30, 30, 30, 30], ks: small ? [7] : [1, 7, 30, 31] },
          ...(small ? [] : [{ lengths: [1000, 1000, 1000], ks: [40] }]),
        ];
        for (const [turn, { lengths, ks }] of shapes.entries()) {
          const offsets = [0];
          for (const length of lengths) offsets.push((offsets.at(-1) as number) + length);
          const n = offsets.at(-1) as number;
          const [each] = lengths as [number];
          const where = lengths.every((length) => length === each) ? [offsets, each] : [offsets];
          const constant = keysOf(dtype, 'uniform', n);
          constant.fill(constant[0] as never); // of one value
          using device = await sorter.upload(Uint32Array.from(offsets));
          for (const keys of [keysOf(dtype, 'uniform', n), keysOf(dtype, 'special', n), constant]) {
            using there = await sorter.upload(keys, { dtype });
            for (const k of ks) {
              const largest = (turn + k) % 2 === 0;
              const [positions, inSegment, begins]: [number[], number[], number[]] = [[], [], [0]];
              for (const [s, end] of offsets.slice(1).entries()) {
                const begin = offsets[s] as number;
                const part = bytesOf(keys).subarray(begin * unit, end * unit);
                const order = referenceArgsort(part, dtype, { descending: largest }).slice(0, k);
                inSegment.push(...order);
                positions.push(...[...order].map((i) => begin + i));
                begins.push(positions.length);
              }
              const sorted = picked(keys, dtype, positions);
              const options = { largest, advanced: { tuning: { select: 0 } } };
              const what = `${lengths} ${k} ${largest} seed ${SEED}`;
              for (const by of [...where, device]) {
                for (const verify of [true, false]) {
                  const found = await sorter.topKSegments(there, by, k, { ...options, verify });
                  t.deepEqual([...(await found.offsets.read())], begins, what);
                  t.deepEqual([...(await found.indices.read())], positions, what);
                  t.true(same(await found.keys.read(), sorted), what);
                  for (const array of [found.keys, found.indices, found.offsets]) array.dispose();
                }
                if (by === device) continue;
                const within = { ...options, dtype, positions: 'segment', verify: true } as const;
                const top = await sorter.topKSegments(keys, by, k, within);
                t.deepEqual([...top.offsets], begins, what);
                t.deepEqual([...top.indices], inSegment, what);
                t.true(same(top.keys, sorted), what);
              }
            }
          }
        }
      },
    );
  }

  test.serial(
    title('float sums by key stay within the documented error, even of runs longer than a group'),
    async (t) => {
      const sorter = await open();
      const n = small ? 700 : 50_003;
      const keys = Uint8Array.from({ length: n }, (_, i) => (i % 10 ? 7 : i % 3));
      for (const Floats of [Float32Array, Float64Array]) {
        const values = new Floats(n).map((_, i) => ((i * 7919) % 4001) / 64 - 20);
        const { keys: found, values: sums } = await sorter.reduceByKey(keys, values, 'sum', {
          onWarning: () => undefined,
        });
        t.deepEqual(found, Uint8Array.of(0, 1, 2, 7));
        t.is(sums.constructor, Floats);
        const epsilon = Floats === Float32Array ? 2 ** -24 : 2 ** -53;
        for (const [r, key] of found.entries()) {
          let [exact, magnitude] = [0, 0];
          keys.forEach((other, i) => {
            if (other !== key) return;
            exact += values[i] as number;
            magnitude += Math.abs(values[i] as number);
          });
          t.true(Math.abs((sums[r] as number) - exact) <= 2 * Math.log2(n) * epsilon * magnitude);
        }
      }
    },
  );

  test.serial(
    title('operations on device arrays accept promises of arrays and return device arrays'),
    async (t) => {
      const sorter = await open();
      const keys = keysOf('u32', 'uniform', small ? 300 : 5000) as Uint32Array;
      using array = await sorter.upload(keys);
      const below = 2 ** 31;
      const low = sorter.filter(sorter.sort(array), { below });
      const expected = keys.filter((key) => key < below).toSorted();
      using some = await low;
      t.deepEqual(await some.read(), expected);
      using both = await sorter.merge(low, sorter.sort(array));
      t.deepEqual(await both.read(), Uint32Array.from([...keys, ...expected]).toSorted());
      using places = await sorter.searchSorted(sorter.sort(array), low, { side: 'right' });
      const order = keys.toSorted();
      t.deepEqual(
        await places.read(),
        expected.map((key) => order.filter((other) => other <= key).length),
      );
      using mask = await sorter.upload(Uint8Array.from(keys, (key) => key & 1));
      const { keys: parted, count } = await sorter.partition(array, mask);
      const odd = keys.filter((key) => key % 2 === 1);
      t.is(count, odd.length);
      t.deepEqual((await parted.read()).slice(0, count), odd);
      using offsets = await sorter.upload(Uint32Array.of(0, 100, 100, keys.length));
      const top = await sorter.topKSegments(array, offsets, 7);
      t.deepEqual(await top.offsets.read(), Uint32Array.of(0, 7, 7, 14));
      t.deepEqual((await top.keys.read()).slice(0, 7), keys.slice(0, 100).toSorted().reverse().slice(0, 7));
      const reduced = await sorter.reduceByKey(mask, array, 'max');
      t.deepEqual(
        await reduced.values.read(),
        [0, 1]
          .map((bit) => Math.max(...keys.filter((key) => key % 2 === bit)))
          .reduce((all, one, i) => all.fill(one, i), new Uint32Array(2)),
      );
      using wrong = await sorter.upload(Uint32Array.of(0, 200, 100, keys.length));
      await t.throwsAsync(sorter.topKSegments(array, wrong, 7), { instanceOf: InputError });
      const into = new Uint32Array(expected.length * 2);
      t.is(await sorter.merge(expected, expected, { into }), into);
      t.deepEqual(into, Uint32Array.from([...expected, ...expected]).toSorted());
      for (const one of [parted, top.keys, top.indices, top.offsets, reduced.keys, reduced.values])
        one.dispose();
    },
  );

  test.serial(title('wrong arguments are typed errors'), async (t) => {
    const sorter = await open();
    const keys = Uint32Array.of(3, 1, 2);
    const usage = { instanceOf: UsageError };
    const input = { instanceOf: InputError };
    for (const by of [
      {},
      { below: Number.NaN },
      { under: 3 },
      { below: '3' },
      { nan: true, below: 3 },
      { nan: false },
      { from: 1, not: 1 },
      (key: number) => key > 1,
      null,
    ]) {
      await t.throwsAsync(sorter.filter(keys, by as never), usage, String(by));
    }
    await t.throwsAsync(sorter.partition(Float32Array.of(1), { below: 1n }), usage);
    await t.throwsAsync(sorter.filter(keys, Uint8Array.of(1, 0)), input);
    await t.throwsAsync(sorter.filter(keys, keys.slice() as never), input);
    await t.throwsAsync(sorter.filter(keys, { below: 2 }, { bitRange: [0, 8] } as object), usage);
    using array = await sorter.upload(keys);
    await t.throwsAsync(sorter.filter(array, Uint8Array.of(1, 0, 1) as never), input);
    await t.throwsAsync(sorter.merge(array, keys as never), input);
    await t.throwsAsync(sorter.merge(keys, Int32Array.of(1) as never), input);
    await t.throwsAsync(sorter.merge(keys, keys.slice(), { into: keys }), input);
    await t.throwsAsync(sorter.merge(keys, keys.slice(), { descending: 1 } as object), usage);
    await t.throwsAsync(sorter.searchSorted(keys, keys.slice(), { side: 'middle' } as object), usage);
    await t.throwsAsync(sorter.reduceByKey(keys, Uint8Array.of(1), 'sum'), input);
    await t.throwsAsync(sorter.reduceByKey(keys, keys.slice(), 'mean' as 'sum'), usage);
    await t.throwsAsync(sorter.topKSegments(keys, [0, 3], 1.5), usage);
    await t.throwsAsync(sorter.topKSegments(keys, [0, 2], 1), input);
    await t.throwsAsync(sorter.topKSegments(keys, [0, 3], 1, { descending: true } as object), usage);
    await t.throwsAsync(sorter.topKSegments(keys, [0, 3], 1, { positions: 'all' } as object), usage);
    await t.throwsAsync(sorter.scan(keys, { op: 'mean' as 'sum' }), usage);
    for (const op of ['sum', 'product'] as const) {
      const halves = sorter.scan(Uint16Array.of(1), { dtype: 'f16', op });
      await t.throwsAsync(halves, { instanceOf: UnsupportedError, message: /f32/ });
    }
  });

  for (const dtype of dtypesOn(small)) {
    test.serial(title(`min and max scans of ${dtype} return keys bit for bit`), async (t) => {
      const sorter = await open();
      for (const n of sizes) {
        const keys = keysOf(dtype, n % 2 ? 'special' : 'uniform', n);
        for (const op of ['min', 'max'] as const) {
          const nan = op === 'min' ? 'first' : 'last';
          const made = await sorter.scan(keys, { dtype, op, inclusive: true });
          let best: bigint | undefined;
          const expected = patterns(bytesOf(keys), dtype).map((key) => {
            const [x, y] = [key, best ?? key].map((bits) => referenceCode(dtype, { nan }, bits)) as [
              bigint,
              bigint,
            ];
            if (best === undefined || (op === 'min' ? x < y : x > y)) best = key;
            return best;
          });
          t.deepEqual(patterns(bytesOf(made), dtype), expected, `${op} ${n} seed ${SEED}`);
        }
      }
    });
  }
});

test('reduceByKey keeps the type of the values, except for sums of integers', async (t) => {
  await using sorter = await library.Sorter.open({ device: 'host' });
  const keys = Uint32Array.of(2, 1, 2);
  for (const values of [Uint8ClampedArray.of(3, 4, 5), Buffer.of(3, 4, 5), Int16Array.of(3, 4, 5)]) {
    const { values: largest } = await sorter.reduceByKey(keys, values, 'max');
    t.is(largest.constructor, values.constructor);
    t.deepEqual([...largest], [4, 5]);
    const { values: sums } = await sorter.reduceByKey(keys, values, 'sum');
    t.deepEqual(sums, values instanceof Int16Array ? BigInt64Array.of(4n, 8n) : BigUint64Array.of(4n, 8n));
  }
});

test('the functions of the default Sorter give the same results', async (t) => {
  const keys = Int32Array.of(5, -3, 8, -3);
  const device = 'host';
  t.deepEqual(await library.filter(keys, { below: 6 }, { device }), Int32Array.of(5, -3, -3));
  t.deepEqual(await library.partition(keys, Uint8Array.of(0, 1, 0, 1), { device }), {
    keys: Int32Array.of(-3, -3, 5, 8),
    count: 2,
  });
  t.deepEqual(await library.searchSorted(Int32Array.of(1, 5), keys, { device }), Uint32Array.of(1, 0, 2, 0));
  t.deepEqual(await library.merge(Int32Array.of(1, 5), Int32Array.of(2), { device }), Int32Array.of(1, 2, 5));
  t.deepEqual(await library.reduceByKey(keys, Float32Array.of(1, 2, 3, 4), 'sum', { device }), {
    keys: Int32Array.of(-3, 5, 8),
    values: Float32Array.of(6, 1, 3),
  });
  t.deepEqual(await library.topKSegments(keys, [0, 2, 4], 1, { device }), {
    keys: Int32Array.of(5, 8),
    indices: Uint32Array.of(0, 2),
    offsets: Uint32Array.of(0, 1, 2),
  });
  t.deepEqual(await library.scan(keys, { device, op: 'product' }), Int32Array.of(1, 5, -15, -120));
  await library.closeAll();
});
