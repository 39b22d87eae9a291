import './two-devices.js';
import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import { ShardedArray, Sorter, type SortOptions, type SortReport } from '../../../src/index.js';
import { DTYPES, type KeyArray } from '../../../src/keys/dtype.js';
import { DeviceGroup } from '../../../src/sort/multi-device/device-group.js';
import { InputError, UnsupportedError, UsageError } from '../../../src/util/errors.js';
import { type Distribution, keysOf } from '../../distributions.js';
import { poclNames } from '../../pocl-names.js';
import { PLATFORM } from './two-devices.js';

let both: Sorter;
let host: Sorter;
test.before(async () => {
  both = await Sorter.open({ devices: [PLATFORM] });
  host = await Sorter.open({ device: 'host' });
});
test.after.always(async () => {
  await both?.close();
  await host?.close();
});

const DISTRIBUTIONS: readonly Distribution[] = [
  'uniform',
  'constant',
  'two',
  'sorted',
  'reversed',
  'special',
];

const same = (a: ArrayBufferView, b: ArrayBufferView): boolean =>
  Buffer.from(a.buffer as ArrayBuffer, a.byteOffset, a.byteLength).equals(
    Buffer.from(b.buffer as ArrayBuffer, b.byteOffset, b.byteLength),
  );

for (const dtype of DTYPES) {
  test(`${dtype}: sorts of sharded arrays match the host bit for bit`, async (t) => {
    for (const distribution of DISTRIBUTIONS) {
      const n = 9001;
      const keys = keysOf(dtype, distribution, n);
      using sharded = await both.upload(keys, { dtype, sharded: true });
      t.is(sharded.parts.length, 2);
      t.true(sharded.parts.every((part) => part > 0));
      t.true(same(await sharded.read(), keys));
      const orders: SortOptions[] = [
        {},
        { descending: true },
        { nan: 'first', bitRange: [2, 7] },
        { bitRange: [1, 1] },
      ];
      for (const order of orders) {
        const why = `${distribution} ${JSON.stringify(order)}`;
        const options = { dtype, ...order };
        using sorted = await both.sort(sharded, order);
        t.deepEqual(sorted.parts, sharded.parts, 'balanced, whatever the keys are');
        t.true(same(await sorted.read(), await host.sort(keys, options)), why);
        using positions = await both.argsort(sharded, order);
        t.true(same(await positions.read(), await host.argsort(keys, options)), why);
        using wide = await both.argsort(sharded, { ...order, positions: 'u64' });
        t.deepEqual(wide.parts, sharded.parts);
        t.true(same(await wide.read(), await host.argsort(keys, { ...options, positions: 'u64' })), why);
        const values = keysOf('u64', 'uniform', n) as BigUint64Array;
        using beside = await both.upload(values, { sharded: true });
        const pairs = await both.sortPairs(sharded, beside, { ...order, verify: true });
        const expected = await host.sortPairs(keys, values, options);
        t.true(same(await pairs.keys.read(), expected.keys), why);
        t.true(same(await pairs.values.read(), expected.values), why);
        for (const k of [0, 1, 500, 9001]) {
          const { descending = false, ...rest } = order;
          const top = await both.topK(sharded, k, { ...rest, largest: descending });
          const wanted = await host.topK(keys, k, { dtype, ...rest, largest: descending });
          t.true(same(top.keys, wanted.keys), `${k} of ${why}`);
          t.true(same(top.indices, wanted.indices), `${k} of ${why}`);
          const { indices } = await both.topK(sharded, k, { ...rest, largest: descending, positions: 'u64' });
          t.true(same(indices, BigUint64Array.from(wanted.indices, BigInt)), `${k} of ${why}, wide`);
        }
      }
    }
  });

  test(`${dtype}: reductions of sharded arrays match the host`, async (t) => {
    const keys = keysOf(dtype, 'uniform', 3000);
    using sharded = await both.upload(keys, { dtype, sharded: true });
    for (const op of ['sum', 'min', 'max'] as const) {
      if (dtype.endsWith('f16') && op === 'sum') {
        await t.throwsAsync(both.reduce(sharded, op), { instanceOf: UnsupportedError });
        continue;
      }
      const [found, expected] = [await both.reduce(sharded, op), await host.reduce(keys, op, { dtype })];
      if (op === 'sum' && typeof expected === 'number' && !Number.isNaN(expected)) {
        t.true(Math.abs(Number(found) - expected) <= Math.abs(expected) * 1e-3 || found === expected);
      } else t.is(found, expected);
    }
  });
}

test('sharded arrays of few or no elements are sorted and reduced', async (t) => {
  for (const n of [0, 1, 2, 3]) {
    const keys = Int32Array.from({ length: n }, (_, i) => n - i);
    using sharded = await both.upload(keys, { sharded: true });
    using sorted = await both.sort(sharded);
    t.deepEqual(await sorted.read(), keys.toSorted());
    using positions = await both.argsort(sharded);
    t.deepEqual(await positions.read(), Uint32Array.from(keys.keys()).reverse());
    if (n > 0) t.is(await both.reduce(sharded, 'max'), n);
  }
  using none = await both.upload(new Float32Array(0), { sharded: true });
  t.is(await both.reduce(none, 'sum'), 0);
  await t.throwsAsync(both.reduce(none, 'min'), { instanceOf: InputError });
});

test('ranges of a sharded array can be read, and ranges outside of it are rejected', async (t) => {
  const keys = keysOf('u16', 'uniform', 1000) as Uint16Array;
  using sharded = await both.upload(keys, { sharded: true });
  const [first = 0] = sharded.parts;
  t.deepEqual(await sharded.read(first - 3, 7), keys.slice(first - 3, first + 4));
  t.deepEqual(await sharded.read(999), keys.slice(999));
  t.deepEqual(await sharded.read(0, 0), new Uint16Array(0));
  const into = new Uint16Array(9);
  await sharded.readInto(into.subarray(1, 8), first - 3);
  t.deepEqual(into, Uint16Array.of(0, ...keys.slice(first - 3, first + 4), 0));
  const bytes = new Uint8Array(8).subarray(1, 7);
  await sharded.readInto(bytes, first - 1);
  t.deepEqual(new Uint16Array(bytes.slice().buffer), keys.slice(first - 1, first + 2), 'bytes anywhere');
  await t.throwsAsync(sharded.readInto(into, keys.length - 8), { instanceOf: InputError });
  await t.throwsAsync(sharded.read(990, 11), { instanceOf: InputError });
  await t.throwsAsync(sharded.read(-1), { instanceOf: InputError });
});

test('sort accepts promises of sharded arrays and reports the share of each device', async (t) => {
  const keys = keysOf('f32', 'uniform', 20_000) as Float32Array;
  const reports: SortReport[] = [];
  const sharded = both.upload(keys, { sharded: true });
  const sorted = await both.sort(both.sort(sharded), {
    advanced: { tuning: { deviceCount: 2 } },
    onReport: (report) => reports.push(report),
  });
  t.true(same(await sorted.read(), await host.sort(keys)));
  t.is(reports.length, 1);
  t.is(reports[0]?.n, keys.length);
  t.is(reports[0]?.shares?.length, 2);
});

test('operations that do not support sharded arrays reject them', async (t) => {
  const sharded = await both.upload(Uint32Array.of(3, 1, 2), { sharded: true });
  const untyped = sharded as unknown as Uint32Array;
  for (const call of [
    () => both.unique(untyped),
    () => both.scan(untyped),
    () => both.histogram(untyped, { bins: 2, range: [0, 4] }),
    () => both.segmentedSort(untyped, [0, 3]),
    () => both.sortInPlace(untyped),
    () => both.lexsort([untyped]),
    () => both.gather(untyped, untyped),
  ]) {
    await t.throwsAsync(call, {
      instanceOf: UnsupportedError,
      message: /sort, argsort, sortPairs, topK and reduce/,
    });
  }
  await t.throwsAsync(both.sort(sharded, { into: sharded }), { instanceOf: UsageError });
  await t.throwsAsync(both.sort(sharded, { dtype: 'i32' }), { instanceOf: UsageError });
  await t.throwsAsync(both.sortPairs(sharded, Uint32Array.of(1, 2, 3)), { instanceOf: InputError });
  await t.throwsAsync(both.sortPairs(sharded, sharded), { instanceOf: InputError });
  const two = await both.upload(Uint32Array.of(3, 1), { sharded: true });
  await t.throwsAsync(both.sortPairs(sharded, two), { instanceOf: InputError });
  await t.throwsAsync(host.sort(sharded), { instanceOf: UsageError, message: /another Sorter/ });
  sharded.dispose();
  sharded.dispose();
  await t.throwsAsync(both.sort(sharded), { instanceOf: UsageError, message: /disposed/ });
  await t.throwsAsync(sharded.read(), { instanceOf: UsageError });
});

test('one device and the host sort sharded arrays of one part', async (t) => {
  await using one = await Sorter.open({ device: poclNames()[1] });
  for (const sorter of [one, host]) {
    const sharded = await sorter.upload(Uint8Array.of(3, 1, 2) as KeyArray, { sharded: true });
    t.true(sharded instanceof ShardedArray);
    t.deepEqual(await (await sorter.sort(sharded)).read(), Uint8Array.of(1, 2, 3) as never);
    t.deepEqual(await (await sorter.argsort(sharded)).read(), Uint32Array.of(1, 2, 0));
  }
});

test.serial('sorts of large sharded arrays release their memory', async (t) => {
  const n = 2 ** 22 + 2 ** 20;
  const keys = keysOf('u64', 'reversed', n) as BigUint64Array;
  const sharded = await both.upload(keys, { sharded: true });
  const sorted = await both.sort(sharded);
  t.true(same(await sorted.read(), keys.toReversed()));
  t.true(both.memory().used >= 2 * keys.byteLength);
  sharded.dispose();
  sorted.dispose();
  // They are released when no call is pending.
  while (both.memory().used >= keys.byteLength) await setImmediate();
  both.trim();
  t.is(both.memory().idle, 0);
});

test('a disposed sharded array stays valid until earlier calls are done', async (t) => {
  const keys = keysOf('u32', 'uniform', 30_000) as Uint32Array;
  const sharded = await both.upload(keys, { sharded: true });
  const values = await both.upload(keys, { sharded: true });
  const read = sharded.read();
  const [sorted, pairs] = [both.sort(sharded), both.sortPairs(sharded, values)];
  const [positions, top] = [both.argsort(sharded), both.topK(sharded, 5)];
  const minimum = both.reduce(sharded, 'min');
  sharded.dispose();
  values.dispose();
  const inOrder = keys.toSorted();
  t.deepEqual(await read, keys);
  t.deepEqual(await (await sorted).read(), inOrder);
  t.deepEqual(await (await pairs).values.read(), inOrder);
  t.deepEqual(await (await positions).read(), await host.argsort(keys));
  t.deepEqual((await top).keys, inOrder.slice(-5).reverse());
  t.is(await minimum, inOrder[0] as number);
});

test('free and close wait for calls on sharded arrays', async (t) => {
  const sorter = await Sorter.open({ devices: [PLATFORM] });
  const keys = sorter.allocPinned('u32', 2 ** 20);
  keys.set(keysOf('u32', 'uniform', 2 ** 20) as Uint32Array);
  const done: string[] = [];
  const noted = async <T>(name: string, call: Promise<T>): Promise<T> => {
    const result = await call;
    done.push(name);
    return result;
  };
  const uploaded = noted('upload', sorter.upload(keys, { sharded: true }));
  await noted('free', sorter.freePinned(keys));
  const sharded = await uploaded;
  const into = sorter.allocPinned('u32', 2 ** 20);
  const read = noted('read', sharded.readInto(into));
  await noted('free', sorter.freePinned(into));
  await read;
  const calls = [
    noted('upload', sorter.upload(new Uint32Array(2 ** 20), { sharded: true })),
    noted('sort', sorter.sort(sharded)),
  ];
  await noted('close', sorter.close());
  await Promise.all(calls);
  t.deepEqual(done, ['upload', 'free', 'read', 'free', 'upload', 'sort', 'close']);
  await t.throwsAsync(sorter.sort(sharded), { instanceOf: UsageError, message: /closed/ });
});

test('an aborted signal rejects the sort of a sharded array', async (t) => {
  const sharded = await both.upload(keysOf('u32', 'uniform', 1000), { sharded: true });
  await t.throwsAsync(both.sort(sharded, { signal: AbortSignal.abort() }), { name: 'AbortError' });
  t.is((await both.sort(sharded)).length, 1000);
});

test.serial('an empty sharded array does not determine the parts of later arrays', async (t) => {
  const { weigh } = DeviceGroup.prototype;
  let asked = 0;
  DeviceGroup.prototype.weigh = async () => {
    asked++;
    return [3, 1];
  };
  try {
    await using sorter = await Sorter.open({ devices: [PLATFORM] });
    using empty = await sorter.upload(new Uint32Array(), { sharded: true });
    t.deepEqual([empty.parts, asked], [[0, 0], 0]);
    using some = await sorter.upload(Uint32Array.from({ length: 8 }), { sharded: true });
    t.deepEqual([some.parts, asked], [[6, 2], 1]);
  } finally {
    DeviceGroup.prototype.weigh = weigh;
  }
});
