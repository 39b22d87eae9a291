/** Merges of many sorted arrays, against a sort of all their keys. */
import test from 'ava';
import { InputError } from '../../../src/index.js';
import { DTYPES, type Dtype, dtypeInfo, type KeyArray } from '../../../src/keys/dtype.js';
import { mergeManyCases } from '../../../src/sort/operations/merge-many/cases.js';
import { Random } from '../../../src/util/random.js';
import { type Distribution, dtypesOn, keysOf, SEED } from '../../distributions.js';
import { forEachSorter } from '../../each-sorter.js';
import { FULL } from '../../pairwise.js';
import { referenceSort } from '../../reference.js';
import { passInTwoOrders } from './in-two-orders.js';

const bytesOf = (view: ArrayBufferView) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
const same = (a: ArrayBufferView, b: ArrayBufferView) => Buffer.compare(bytesOf(a), bytesOf(b)) === 0;

forEachSorter((title, open, small) => {
  test.serial(title('any number of sorted arrays become one'), async (t) => {
    const sorter = await open();
    for (const verify of [false, true]) {
      t.deepEqual(await sorter.mergeMany([Float32Array.of(2, 3)], { verify }), Float32Array.of(2, 3));
      t.deepEqual(
        await sorter.mergeMany([Float32Array.of(5, 2), Float32Array.of(), Float32Array.of(Number.NaN, 3)], {
          ...{ verify, descending: true, nan: 'first' },
        }),
        Float32Array.of(Number.NaN, 5, 3, 2),
      );
      t.deepEqual(await sorter.mergeMany([new Int8Array(0), new Int8Array(0)], { verify }), new Int8Array(0));
    }
    const into = new BigInt64Array(5);
    const [a, b] = [BigInt64Array.of(-1n, 7n), BigInt64Array.of(5n)];
    t.is(await sorter.mergeMany([a, b, a], { into }), into);
    t.deepEqual(into, BigInt64Array.of(-1n, -1n, 5n, 7n, 7n));
  });

  test.serial(title('arrays that cannot be merged are rejected'), async (t) => {
    const sorter = await open();
    using device = await sorter.upload(Uint32Array.of(1));
    const host = Uint32Array.of(1);
    for (const [arrays, message] of [
      [[], /at least one array/],
      [host, /arrays/],
      [[host, 5], /array/],
      [[host, Int32Array.of(1)], /array 0 and array 1.*u32 and i32/],
      [[host, host, device], /array 0 and array 2.*one of each/],
    ] as const) {
      await t.throwsAsync(async () => sorter.mergeMany(arrays as never), { instanceOf: InputError, message });
    }
    await t.throwsAsync(sorter.mergeMany([host, host], { into: host }), { instanceOf: InputError });
  });

  test.serial(title('device arrays and promises of them are merged on the device'), async (t) => {
    const sorter = await open();
    for (const dtype of ['u16', 'f32', 'u64'] as const) {
      const all = Array.from({ length: 5 }, (_, i) =>
        keysOf(dtype, 'special', 700 * i + 3, SEED + BigInt(i)),
      );
      const expected = referenceSort(Buffer.concat(all.map(bytesOf)), dtype);
      const uploads = await Promise.all(all.map((keys) => sorter.upload(keys)));
      for (const count of [2, 3, 5]) {
        const sorted = uploads.map((one) => sorter.sort(one));
        const rest = await sorter.mergeMany(sorted.slice(count - 1));
        using merged = await sorter.mergeMany([...sorted.slice(0, count - 1), rest]);
        t.true(same(await merged.read(), expected), `${dtype} ${count}`);
      }
    }
  });

  test.serial(title('random arrays are merged as the reference sorts them'), async (t) => {
    const sorter = await open();
    const random = new Random(SEED);
    const distributions: readonly Distribution[] = ['special', 'uniform', 'and9'];
    for (let i = 0; i < (FULL ? 1000 : small ? 22 : 220); i++) {
      const dtype = DTYPES[i % DTYPES.length] as Dtype;
      const order = {
        descending: random.below(2) === 1,
        nan: random.below(2) === 1 ? 'first' : 'last',
      } as const;
      const arrays = Array.from({ length: 1 + random.below(random.below(2) === 0 ? 4 : 40) }, () => {
        const n = random.below(small ? 60 : 400);
        const keys = keysOf(dtype, distributions[random.below(3)] as Distribution, n, BigInt(random.u32()));
        bytesOf(keys).set(referenceSort(bytesOf(keys), dtype, order));
        return keys;
      });
      const merged = await sorter.mergeMany<KeyArray>(arrays, {
        dtype,
        ...order,
        verify: random.below(4) === 0,
      });
      const expected = referenceSort(Buffer.concat(arrays.map(bytesOf)), dtype, order);
      t.true(same(merged, expected), `${dtype}, case ${i}, seed ${SEED}`);
    }
  });

  for (const dtype of dtypesOn(small)) {
    test.serial(title(`merges of many keys of ${dtype}`), async (t) => {
      const sorter = await open();
      const n = small ? 900 : Math.floor((2 ** 18 + 11) / (dtypeInfo(dtype).bytes / 2));
      await passInTwoOrders(t, sorter, mergeManyCases, [dtype, ['uniform', 'special', 'constant'], n]);
    });
  }
});
