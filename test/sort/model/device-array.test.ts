import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import { Sorter } from '../../../src/sort/api/sorter.js';
import { InputError, UsageError } from '../../../src/util/errors.js';
import { keysOf } from '../../distributions.js';
import { forEachFakeSorter } from '../fake-backend.js';

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
const same = (a: ArrayBufferView, b: ArrayBufferView) => Buffer.compare(bytesOf(a), bytesOf(b)) === 0;

forEachFakeSorter((title, open) => {
  const n = 5003;

  test.serial(
    title('sort, argsort, sortPairs and sortInPlace agree with those of typed arrays'),
    async (t) => {
      const sorter = await open();
      const keys = keysOf('f32', 'uniform', n) as Float32Array;
      const values = keysOf('f64', 'uniform', n) as Float64Array;
      const order = { descending: true, nan: 'first' } as const;
      using deviceKeys = await sorter.upload(keys);
      using deviceValues = await sorter.upload(values);

      using sorted = await sorter.sort(deviceKeys, order);
      t.true(same(await sorted.read(), await sorter.sort(keys, order)));
      using positions = await sorter.argsort(deviceKeys, order);
      t.deepEqual(await positions.read(), await sorter.argsort(keys, order));
      const pairs = await sorter.sortPairs(deviceKeys, deviceValues, { ...order, verify: true });
      const expected = await sorter.sortPairs(keys, values, order);
      t.true(same(await pairs.keys.read(), expected.keys));
      t.true(same(await pairs.values.read(), expected.values));
      t.true(same(await deviceKeys.read(), keys), 'the input is not touched');
      t.is(await sorter.sortInPlace(deviceKeys, order), deviceKeys);
      t.true(same(await deviceKeys.read(), expected.keys));
      pairs.keys.dispose();
      pairs.values.dispose();
    },
  );

  test.serial(title('sortInPlace sorts the memory of a typed array at any offset'), async (t) => {
    const sorter = await open();
    for (const offset of [0, 4, 8, 12]) {
      const memory = new ArrayBuffer(n * 4 + 16);
      const keys = new Uint32Array(memory, offset, n);
      keys.set(keysOf('u32', 'uniform', n) as Uint32Array);
      const expected = keys.toSorted();
      t.is(await sorter.sortInPlace(keys), keys);
      t.deepEqual(keys, expected);
    }
    const shared = new Int16Array(new SharedArrayBuffer(2 * n)).map((_, i) => (i * 7919) % 1000);
    t.deepEqual(await sorter.sortInPlace(shared), shared.toSorted());
  });

  test.serial(title('a call sees an array as earlier calls leave it'), async (t) => {
    const sorter = await open();
    const keys = keysOf('u32', 'uniform', n) as Uint32Array;
    const array = await sorter.upload(keys);
    const before = array.read();
    const inPlace = sorter.sortInPlace(array, { descending: true });
    const sums = sorter.scan(array, { inclusive: true });
    const largest = array.read(0, 1);
    const written = array.write(Uint32Array.of(7), n - 1);
    const last = array.read(n - 1);
    array.dispose(); // when all of them are done
    t.deepEqual(await before, keys);
    t.is(await inPlace, array);
    await written;
    t.deepEqual(await last, Uint32Array.of(7));
    const sorted = keys.toSorted().reverse();
    t.deepEqual(await largest, sorted.slice(0, 1));
    using added = await sums;
    t.deepEqual(await added.read(), await sorter.scan(sorted, { inclusive: true }));
  });

  test.serial(title('sortInPlace leaks no memory if its array is disposed of meanwhile'), async (t) => {
    const sorter = await open();
    const { used } = sorter.memory();
    const array = await sorter.upload(keysOf('u32', 'uniform', n));
    const inPlace = sorter.sortInPlace(array);
    array.dispose();
    await inPlace;
    await setImmediate();
    t.is(sorter.memory().used, used);
  });

  test.serial(title('every operation accepts empty device arrays'), async (t) => {
    const sorter = await open();
    using none = await sorter.upload(new Float32Array());
    for (const array of [
      await sorter.sort(none),
      await sorter.argsort(none),
      (await sorter.topK(none, 3)).keys,
      (await sorter.unique(none)).counts,
      await sorter.segmentedSort(none, [0]),
      await sorter.lexsort([none]),
      await sorter.sortInPlace(none),
    ]) {
      t.is((await array.read()).length, 0);
    }
  });

  test.serial(
    title('wrong sizes, disposed arrays and arrays of another Sorter are typed errors'),
    async (t) => {
      const sorter = await open();
      const array = sorter.createArray('u32', 10);
      await t.throwsAsync(array.write(new Uint32Array(11)), { instanceOf: InputError });
      await t.throwsAsync(array.write(new Uint32Array(1), 10), { instanceOf: InputError });
      await t.throwsAsync(array.write(new Uint32Array(1), -1), { instanceOf: InputError });
      await t.throwsAsync(array.read(0, 11), { instanceOf: InputError });
      await t.throwsAsync(array.read(0.5, 1), { instanceOf: InputError });
      await t.throwsAsync(sorter.sortPairs(array, new Uint32Array(10)), { instanceOf: InputError });
      await t.throwsAsync(sorter.sortPairs(array, array), { instanceOf: InputError });
      await t.throwsAsync(sorter.sort(array, { dtype: 'f32' }), { instanceOf: UsageError });
      t.throws(() => sorter.createArray('u32', -1), { instanceOf: UsageError });
      const other = await Sorter.open({ device: 'host' });
      await t.throwsAsync(other.sort(array), { instanceOf: UsageError, message: /another Sorter/ });
      await other.close();
      array.dispose();
      array.dispose();
      await t.throwsAsync(array.read(), { instanceOf: UsageError, message: /disposed/ });
      await t.throwsAsync(sorter.sort(array), { instanceOf: UsageError, message: /disposed/ });
    },
  );
});

test('a plan is plain data that can be compared, printed and explained', async (t) => {
  const host = await Sorter.open({ device: 'host' });
  const plan = host.plan(1000, { dtype: 'f64', valueBytes: 8 });
  t.deepEqual({ ...plan }, { ...host.plan(1000, { dtype: 'f64', valueBytes: 8 }) });
  t.is(plan.engine, 'host');
  t.false(JSON.stringify(plan).includes('explain'));
  t.regex(plan.explain(), /1000 f64 keys with values of 8 bytes/);
  await host.close();
});
