/** Option `positions`: u64 holds the same positions as u32, and inputs of 2^32 keys have them. */
import { freemem } from 'node:os';
import test from 'ava';
import { type KeyArray, Sorter } from '../../../src/index.js';
import { DTYPES } from '../../../src/keys/dtype.js';
import { InputError, UnsupportedError, UsageError } from '../../../src/util/errors.js';
import { keysOf } from '../../distributions.js';
import { deviceNames, PLATFORMS } from '../../each-device.js';
import { forEachSorter } from '../../each-sorter.js';
import { FULL } from '../../pairwise.js';
import { where } from '../../where.js';

const ORDERS = [
  { descending: false, nan: 'last' },
  { descending: true, nan: 'first' },
] as const;

/** Above the smallest size of the addon, and few keys. */
const sizesFor = (small: boolean): readonly number[] => (small ? [0, 300] : [0, 1, 300, 2 ** 14 + 1]);

const wide = (positions: Uint32Array): BigUint64Array => BigUint64Array.from(positions, BigInt);

const WIDE = { positions: 'u64' } as const;

const Resizable = ArrayBuffer as unknown as new (n: number, o: { maxByteLength: number }) => ArrayBuffer;

forEachSorter((title, open, small) => {
  for (const dtype of DTYPES) {
    test.serial(title(`positions of ${dtype} keys are the same as u64 and as u32`), async (t) => {
      const sorter = await open();
      for (const n of sizesFor(small)) {
        const keys = keysOf(dtype, 'special', n);
        for (const order of ORDERS) {
          const how = { dtype, ...order };
          const message = `${n} keys, ${JSON.stringify(order)}`;
          const expected = await sorter.argsort(keys, how);
          t.deepEqual(await sorter.argsort(keys, { ...how, ...WIDE }), wide(expected), message);
          t.deepEqual(await sorter.argsort(keys, { ...how, ...WIDE, verify: true }), wide(expected), message);

          for (const k of [3, n]) {
            const { descending: largest, ...rest } = how;
            const top = await sorter.topK(keys, k, { ...rest, largest });
            const found = await sorter.topK(keys, k, { ...rest, largest, ...WIDE, verify: true });
            t.deepEqual(found, { keys: top.keys, indices: wide(top.indices) }, `top ${k} of ${message}`);
          }

          const all = { ...how, index: true, inverse: true } as const;
          const { index, inverse, ...rest } = await sorter.unique(keys, all);
          t.deepEqual(
            await sorter.unique(keys, { ...all, ...WIDE, verify: true }),
            { ...rest, index: wide(index), inverse: wide(inverse) },
            `unique of ${message}`,
          );
          const { nan } = order;
          for (const ranks of n > 0 ? [[], [n >> 1], [n - 1, 0]] : [[]]) {
            const parted = wide(await sorter.argpartition(keys, ranks, { dtype, nan }));
            const found = await sorter.argpartition(keys, ranks, { dtype, nan, ...WIDE, verify: true });
            t.deepEqual(found, parted, `positions ${ranks} of ${message}`);
          }
          const [a, b] = [keys.subarray(0, 200), keys.subarray(100, 250)];
          for (const kind of ['inner', 'left', 'semi', 'anti'] as const) {
            const pairs: Record<string, Uint32Array> = await sorter.join(a, b, { ...how, kind });
            const found = await sorter.join(a, b, { ...how, kind, ...WIDE, verify: true });
            const expected = Object.entries(pairs).map(([name, side]) => [name, wide(side)]);
            t.deepEqual(found, Object.fromEntries(expected), `${kind} join of ${message}`);
          }

          const sorted = await sorter.sort(keys, how);
          const search = { ...how, side: order.descending ? 'right' : 'left' } as const;
          const places = await sorter.searchSorted(sorted, keys, search);
          t.deepEqual(await sorter.searchSorted(sorted, keys, { ...search, ...WIDE }), wide(places), message);
        }
      }
    });
  }

  test.serial(title('positions of device arrays are device arrays of u64'), async (t) => {
    const sorter = await open();
    for (const n of sizesFor(small)) {
      const keys = keysOf('f32', 'special', n);
      using array = await sorter.upload(keys);
      const expected = wide(await sorter.argsort(keys));
      using positions = await sorter.argsort(array, WIDE);
      t.is<string, string>(positions.dtype, 'u64');
      t.deepEqual(await positions.read(), expected);
      using into = sorter.createArray('u64', n);
      t.is<unknown, unknown>(await sorter.argsort(array, { ...WIDE, into, verify: true }), into);
      t.deepEqual(await into.read(), expected);
      // A call takes the result of another call before it is done.
      using again = await sorter.sort(sorter.argsort(array, WIDE));
      t.deepEqual(await again.read(), expected.toSorted());

      const top = await sorter.topK(array, 5, { ...WIDE, largest: false });
      t.deepEqual(await top.indices.read(), expected.slice(0, 5));
      using sorted = await sorter.sort(array);
      using places = await sorter.searchSorted(sorted, array, WIDE);
      t.deepEqual(await places.read(), wide(await sorter.searchSorted(await sorted.read(), keys)));
      for (const one of [top.keys, top.indices]) one.dispose();

      const distinct = await sorter.unique(array, { ...WIDE, index: true, inverse: true });
      const { index, inverse } = await sorter.unique(keys, { index: true, inverse: true });
      t.deepEqual(await distinct.index.read(), wide(index));
      t.deepEqual(await distinct.inverse.read(), wide(inverse));
      const pairs = await sorter.join(distinct.keys, array, { ...WIDE, kind: 'left' });
      const expectedPairs = await sorter.join(await distinct.keys.read(), keys, { kind: 'left' });
      t.deepEqual(await pairs.left.read(), wide(expectedPairs.left));
      t.deepEqual(await pairs.right.read(), wide(expectedPairs.right));
      const ranks = n > 0 ? [n >> 1] : [];
      using parted = await sorter.argpartition(array, ranks, WIDE);
      t.deepEqual(await parted.read(), wide(await sorter.argpartition(keys, ranks)));
      for (const one of [...Object.values(distinct), ...Object.values(pairs)]) one.dispose();
    }
  });

  test.serial(title('positions are written to an array of their dtype only'), async (t) => {
    const sorter = await open();
    const keys = Float32Array.of(3, 1, 2);
    const into = new BigUint64Array(3);
    t.is(await sorter.argsort(keys, { ...WIDE, into }), into);
    t.deepEqual(into, BigUint64Array.of(1n, 2n, 0n));
    t.is(await sorter.searchSorted(keys.toSorted(), keys, { ...WIDE, into }), into);
    t.deepEqual(into, BigUint64Array.of(2n, 0n, 1n));
    const narrow = new Uint32Array(3) as never;
    await t.throwsAsync(sorter.argsort(keys, { ...WIDE, into: narrow }), { instanceOf: InputError });
    await t.throwsAsync(sorter.argsort(keys, { into: into as never }), { instanceOf: InputError });
    const resizable = new BigUint64Array(new Resizable(24, { maxByteLength: 48 }), 0, 3);
    t.deepEqual(await sorter.argsort(keys, { ...WIDE, into: resizable }), resizable);
    t.deepEqual([...resizable], [1n, 2n, 0n]);
  });

  test.serial(title('gather takes positions of u64'), async (t) => {
    const sorter = await open();
    for (const n of sizesFor(small)) {
      const keys = keysOf('i16', 'special', n);
      const others = keysOf('f64', 'special', n);
      const order = await sorter.argsort(keys);
      t.deepEqual(await sorter.gather(keys, wide(order)), await sorter.gather(keys, order));
      const columns = [keys, others] as const;
      t.deepEqual(await sorter.gather(columns, wide(order)), await sorter.gather(columns, order));
      using array = await sorter.upload(keys);
      using gathered = await sorter.gather(array, sorter.argsort(array, WIDE));
      t.deepEqual(await gathered.read(), await sorter.gather(keys, order));
      for (const index of [BigInt(n), 2n ** 32n, 2n ** 64n - 1n]) {
        const indices = BigUint64Array.from({ length: n + 1 }, (_, i) => (i === n ? index : 0n));
        const wrong = { instanceOf: InputError, message: /indices below the number of values/ };
        await t.throwsAsync(sorter.gather(keys, indices), wrong, `${index} of ${n}`);
        await t.throwsAsync(sorter.gather(columns, indices), wrong, `${index} of ${n}, columns`);
      }
    }
  });

  test.serial(title('a wrong value of positions is a UsageError'), async (t) => {
    const sorter = await open();
    const keys = Float32Array.of(3, 1, 2);
    for (const value of ['u16', 64, null]) {
      const options = { positions: value as never };
      const expected = { instanceOf: UsageError, message: /u32, u64.*positions/ };
      await t.throwsAsync(sorter.argsort(keys, options), expected);
      await t.throwsAsync(sorter.topK(keys, 1, options), expected);
      await t.throwsAsync(sorter.searchSorted(keys, keys, options), expected);
      await t.throwsAsync(sorter.unique(keys, { ...options, index: true }), expected);
      await t.throwsAsync(sorter.join(keys, keys, options), expected);
      await t.throwsAsync(sorter.argpartition(keys, 1, options), expected);
    }
  });

  test.serial(title('positions of 2^32 keys need u64'), async (t) => {
    const sorter = await open();
    const keys = new Uint8Array(2 ** 32); // pages that are never read take no memory
    const expected = { instanceOf: UnsupportedError, message: /4294967296 keys.*positions: 'u64'/ };
    await t.throwsAsync(sorter.argsort(keys), expected);
    await t.throwsAsync(sorter.topK(keys, 1), expected);
    await t.throwsAsync(sorter.searchSorted(keys, keys.subarray(0, 1)), expected);
  });

  test.serial(title('unique, join and argpartition of 2^32 keys are errors with u64 as well'), async (t) => {
    const sorter = await open();
    const keys = new Uint8Array(2 ** 32);
    const few = keys.subarray(0, 1);
    const expected = { instanceOf: UnsupportedError, message: /4294967296 keys.*in parts/ };
    await t.throwsAsync(sorter.unique(keys, { ...WIDE, index: true }), expected);
    await t.throwsAsync(sorter.argpartition(keys, 1, WIDE), expected);
    for (const [a, b] of [
      [keys, few],
      [few, keys],
    ] as const) {
      await t.throwsAsync(sorter.join(a, b, WIDE), expected);
    }
  });

  test.serial(title('a sort in chunks writes u64 positions'), async (t) => {
    const sorter = await open();
    const keys = keysOf('u32', 'two', 1000) as Uint32Array;
    const expected = wide(await sorter.argsort(keys));
    const advanced = { tuning: { chunk: 300 } };
    t.deepEqual(await sorter.argsort(keys, { ...WIDE, advanced, verify: true }), expected);
  });
});

for (const device of deviceNames()) {
  test.serial(`${device}: topK and searchSorted of 2^32 keys with u64 are refused`, async (t) => {
    await using sorter = await Sorter.open({ device: PLATFORMS[device] ?? device });
    const keys = new Uint8Array(2 ** 32);
    const expected = { instanceOf: UnsupportedError, message: /4294967296 keys on a device.*host/ };
    await t.throwsAsync(sorter.searchSorted(keys, keys.subarray(0, 1), WIDE), expected);
    await t.throwsAsync(sorter.topK(keys, 1, WIDE), expected);
  });
}

where(
  FULL && freemem() > 10 * 2 ** 30,
  'needs 10 GiB and CLSORT_TEST_FULL=1',
  test.serial,
)('the host engine returns positions from 2^32 on', async (t) => {
  await using sorter = await Sorter.open({ device: 'host' });
  const n = 2 ** 32;
  const keys: KeyArray = new Uint8Array(n);
  keys.fill(200, n - 3);
  const few = Uint8Array.of(0, 200, 255);
  t.deepEqual(await sorter.searchSorted(keys, few, WIDE), BigUint64Array.of(0n, BigInt(n - 3), BigInt(n)));
  t.deepEqual(
    await sorter.searchSorted(keys, few, { ...WIDE, side: 'right' }),
    BigUint64Array.of(BigInt(n - 3), BigInt(n), BigInt(n)),
  );
  keys[5] = 200;
  const top = await sorter.topK(keys, 5, WIDE);
  t.deepEqual(top, {
    keys: Uint8Array.of(200, 200, 200, 200, 0),
    indices: BigUint64Array.of(5n, BigInt(n - 3), BigInt(n - 2), BigInt(n - 1), 0n),
  });
});
