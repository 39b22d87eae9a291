/** Membership by a table on devices, against a plain reference. */
import test from 'ava';
import { Queue } from '../../../src/device/queue/queue.js';
import { newArray } from '../../../src/keys/array.js';
import { DTYPES, dtypeInfo, type KeyArray } from '../../../src/keys/dtype.js';
import type { Sorter } from '../../../src/sort/api/sorter.js';
import { MAX_TABLE_BYTES, MIN_KEYS_OF_RANGE } from '../../../src/sort/operations/policy.js';
import { forEachDeviceSorter } from '../../each-sorter.js';

/** Kernels that were launched. */
const launched = new Set<string>();
const { run } = Queue.prototype;
Queue.prototype.run = function (kernel, args, launch) {
  if (launch.global !== 0) launched.add(kernel.name);
  run.call(this, kernel, args, launch);
};

/** Number of keys of each array: together, enough that CPU devices read the range. */
const N = MIN_KEYS_OF_RANGE.cpu / 2 + 3;

/** Whether the device reads the range of so many keys. */
const readsRange = ({ device }: Sorter): boolean => device?.type === 'cpu';

const expectedMask = (keys: KeyArray, others: KeyArray): Uint8Array => {
  const set = new Set<number | bigint>(others as unknown as Iterable<number | bigint>);
  return Uint8Array.from(keys as unknown as ArrayLike<number | bigint>, (key) =>
    Number(set.has(key as never)),
  );
};

forEachDeviceSorter((title, open) => {
  for (const dtype of DTYPES) {
    const { kind, width } = dtypeInfo(dtype);
    if (kind === 'float') continue;
    const greatest = 2n ** BigInt(kind === 'signed' ? width - 1 : width) - 1n;
    const least = kind === 'signed' ? -greatest - 1n : 0n;
    const arrayOf = (n: number, valueAt: (i: number) => bigint): KeyArray => {
      const array = newArray(dtype, n);
      for (let i = 0; i < n; i++) array[i] = (width === 64 ? valueAt(i) : Number(valueAt(i))) as never;
      return array;
    };

    test.serial(
      title(`a table has the keys of ${dtype} at the ends and in the middle of the type`),
      async (t) => {
        const sorter = await open();
        for (const begin of [least, (least + greatest) / 2n - 50n, greatest - 100n]) {
          const others = arrayOf(N, (i) => begin + BigInt(((i * 37) % 101) & ~1));
          const keys = arrayOf(N, (i) => (i % 5 ? begin + BigInt(i % 101) : i % 2 ? least : greatest));
          launched.clear();
          t.deepEqual(await sorter.isIn(keys, others), expectedMask(keys, others), `from ${begin}`);
          t.is(launched.has('find_members'), width <= 16 || readsRange(sorter));
          t.not(launched.has('find_members'), launched.has('contains'));
          t.deepEqual(await sorter.isIn(keys, others, { verify: true }), expectedMask(keys, others));
          const [one, other] = [arrayOf(1, () => begin), arrayOf(N, (i) => begin + BigInt(i % 2))];
          t.deepEqual(await sorter.isIn(other, one), expectedMask(other, one), 'one other key');
        }
      },
    );

    test.serial(title(`the range of ${dtype} decides on a table, except for narrow keys`), async (t) => {
      const sorter = await open();
      const keys = arrayOf(N, (i) => (i % 2 ? least : greatest));
      const limit = width <= 16 ? greatest - least + 1n : BigInt(MAX_TABLE_BYTES * 2 * N);
      for (const [range, hasTable] of [
        [limit - 1n, true],
        [limit, width <= 16],
        [greatest - least, width <= 16],
      ] as const) {
        if (range > greatest - least) continue;
        const others = arrayOf(N, (i) => least + (i % 3 ? range : 0n));
        const wanted = arrayOf(N, (i) => (i % 2 ? (keys[i] as never) : least + range - BigInt(i % 7)));
        launched.clear();
        t.deepEqual(await sorter.isIn(wanted, others), expectedMask(wanted, others), `range ${range}`);
        t.is(launched.has('find_members'), hasTable && (width <= 16 || readsRange(sorter)), `range ${range}`);
      }
      const few = arrayOf(5, (i) => least + BigInt(i));
      launched.clear();
      t.deepEqual(await sorter.isIn(few, few.subarray(1, 3) as KeyArray), Uint8Array.of(0, 1, 1, 0, 0));
      t.is(launched.has('find_members'), width <= 16, 'the range of few keys is not read');
      t.deepEqual(await sorter.isIn(keys, newArray(dtype, 0)), new Uint8Array(N));
      t.deepEqual(await sorter.isIn(newArray(dtype, 0), keys), new Uint8Array(0));
    });
  }

  test.serial(title('set operations use the table in both directions'), async (t) => {
    const sorter = await open();
    const a = Int32Array.from({ length: 2 * N }, (_, i) => 2 * i - N);
    const b = Int32Array.from({ length: 2 * N }, (_, i) => 3 * i - N);
    const [inA, inB] = [new Set(a), new Set(b)];
    launched.clear();
    const both = a.filter((key) => inB.has(key));
    t.deepEqual(await sorter.intersect(a, b), both);
    t.deepEqual(
      await sorter.difference(a, b),
      a.filter((key) => !inB.has(key)),
    );
    t.deepEqual(await sorter.union(a, b), Int32Array.from(new Set([...a, ...b])).sort());
    const one = [...a.filter((key) => !inB.has(key)), ...b.filter((key) => !inA.has(key))];
    t.deepEqual(await sorter.setXor(a, b), Int32Array.from(one).sort());
    t.is(launched.has('find_members'), readsRange(sorter));
    t.not(launched.has('find_members'), launched.has('contains'));
  });

  test.serial(title('a call that waits for a range is part of a chain'), async (t) => {
    const sorter = await open();
    const keys = Uint32Array.from({ length: 2 * N }, (_, i) => (i * 7919) % 3001);
    const others = keys.subarray(0, N).map((key) => key & ~1);
    using a = await sorter.upload(keys);
    using b = await sorter.upload(others);
    const mask = sorter.isIn(a, b);
    using members = await sorter.filter(a, mask as never);
    (await mask)[Symbol.dispose]();
    const set = new Set(others);
    t.deepEqual(
      await members.read(),
      keys.filter((key) => set.has(key)),
    );
  });

  test.serial(title('floats have no table'), async (t) => {
    const sorter = await open();
    const others = Float32Array.from({ length: N }, (_, i) => (i % 3 ? -0 : i % 2 ? Number.NaN : 1));
    const keys = Float32Array.from({ length: N }, (_, i) => [0, 1, 2, Number.NaN][i % 4] as number);
    launched.clear();
    t.deepEqual(
      await sorter.isIn(keys, others),
      Uint8Array.from(keys, (key) => Number(key !== 2)),
    );
    t.false(launched.has('find_members'));
  });
});
