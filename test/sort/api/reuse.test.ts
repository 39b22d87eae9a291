/** Reused arrays: results into given arrays, and arrays that the device accesses directly. */
import test from 'ava';
import { DTYPES } from '../../../src/keys/dtype.js';
import { InputError, UsageError } from '../../../src/util/errors.js';
import { keysOf } from '../../distributions.js';
import { referenceArgsort, referenceSort } from '../../reference.js';
import { forEachFakeSorter } from '../fake-backend.js';

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
const same = (a: ArrayBufferView, b: ArrayBufferView) => Buffer.compare(bytesOf(a), bytesOf(b)) === 0;

forEachFakeSorter((title, open) => {
  const n = 20_011;

  test.serial(title('results are written into a given array, which is returned'), async (t) => {
    const sorter = await open();
    const keys = keysOf('f32', 'special', n);
    const before = keys.slice();
    const into = keysOf('f32', 'constant', n);
    t.is(await sorter.sort(keys, { into }), into);
    t.true(same(into, referenceSort(bytesOf(keys), 'f32')));
    const positions = new Uint32Array(n);
    t.is(await sorter.argsort(keys, { into: positions, descending: true }), positions);
    t.deepEqual([...positions], referenceArgsort(bytesOf(keys), 'f32', { descending: true }));
    const values = Uint32Array.from({ length: n }, (_, i) => i);
    const pairs = { keys: into, values: new Uint32Array(n) };
    const made = await sorter.sortPairs(keys, values, { into: pairs });
    t.is(made.values, pairs.values);
    t.deepEqual([...made.values], referenceArgsort(bytesOf(keys), 'f32'));
    t.true(same(keys, before));
  });

  test.serial(
    title('an array for results that does not fit or overlaps the input is rejected'),
    async (t) => {
      const sorter = await open();
      const keys = Uint32Array.of(3, 1, 2);
      await t.throwsAsync(sorter.sort(keys, { into: new Uint32Array(2) }), { instanceOf: InputError });
      await t.throwsAsync(sorter.sort(keys, { into: new Int32Array(3) as never }), {
        instanceOf: InputError,
      });
      await t.throwsAsync(sorter.sort(keys, { into: keys }), { instanceOf: InputError });
      const memory = new Uint32Array(5);
      await t.throwsAsync(sorter.sort(memory.subarray(0, 3), { into: memory.subarray(2) }), {
        instanceOf: InputError,
      });
      await t.throwsAsync(sorter.argsort(keys, { into: keys }), { instanceOf: InputError });
      using device = await sorter.upload(keys);
      await t.throwsAsync(sorter.sort(keys, { into: device as never }), { instanceOf: InputError });
      t.deepEqual([...keys], [3, 1, 2]);
    },
  );

  test.serial(title('device arrays can be reused for results'), async (t) => {
    const sorter = await open();
    const keys = keysOf('u64', 'uniform', n);
    using input = await sorter.upload(keys);
    using into = sorter.createArray('u64', n);
    t.is<unknown, unknown>(await sorter.sort(input, { into }), into);
    t.true(same(await into.read(), referenceSort(bytesOf(keys), 'u64')));
    // Positions are u32, whatever the keys are.
    using positions = sorter.createArray('u32', n);
    t.is<unknown, unknown>(await sorter.argsort(input, { into: positions }), positions);
    t.deepEqual([...(await positions.read())], referenceArgsort(bytesOf(keys), 'u64'));
    t.is<unknown, unknown>(await sorter.searchSorted(into, input, { into: positions }), positions);
    t.is<unknown, unknown>(await sorter.segmentedArgsort(input, [0, n], { into: positions }), positions);
    await t.throwsAsync(sorter.argsort(input, { into: into as never }), { instanceOf: InputError });
    using floats = sorter.createArray('f32', n);
    const others = await sorter.upload(keysOf('f32', 'special', n));
    await t.throwsAsync(sorter.argsort(others, { into: floats as never }), { instanceOf: InputError });
    t.true(same(await input.read(), keys));
  });

  test.serial(title('arrays of allocPinned sort like others for every dtype and can be freed'), async (t) => {
    const sorter = await open();
    for (const dtype of DTYPES) {
      const keys = keysOf(dtype, 'special', 1025);
      const array = sorter.allocPinned(dtype, 1025);
      t.true(bytesOf(array).every((byte) => byte === 0));
      bytesOf(array).set(bytesOf(keys));
      const into = sorter.allocPinned(dtype, 1025);
      await sorter.sort(array, { into, dtype });
      t.true(same(into, referenceSort(bytesOf(keys), dtype)), dtype);
      t.true(same(array, keys));
      await sorter.sortInPlace(array, { dtype, descending: true });
      t.true(same(array, referenceSort(bytesOf(keys), dtype, { descending: true })), dtype);
      await sorter.freePinned(array);
      await sorter.freePinned(into);
      await sorter.freePinned(keys);
    }
    t.is(sorter.allocPinned('u32', 0).length, 0);
    t.throws(() => sorter.allocPinned('u32', -1), { instanceOf: UsageError });
  });
});
