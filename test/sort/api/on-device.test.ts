/** Sorters on a device: transfers between host and device, reports of kernels, and fall back to the host engine. */
import test from 'ava';
import { DTYPES } from '../../../src/keys/dtype.js';
import { Sorter } from '../../../src/sort/api/sorter.js';
import type { SortReport } from '../../../src/sort/model/report.js';
import { InputError, UsageError } from '../../../src/util/errors.js';
import { keysOf } from '../../distributions.js';
import { forEachDeviceSorter, forEachSorter } from '../../each-sorter.js';
import { referenceArgsort, referenceSort } from '../../reference.js';

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
const same = (a: ArrayBufferView, b: ArrayBufferView) => Buffer.compare(bytesOf(a), bytesOf(b)) === 0;

forEachSorter((title, open, small) => {
  const n = small ? 300 : 5003;

  test.serial(title('uploaded keys read back bit for bit, whole and in slices'), async (t) => {
    const sorter = await open();
    for (const dtype of DTYPES) {
      const keys = keysOf(dtype, 'uniform', n);
      const array = await sorter.upload(keys, { dtype });
      t.is(array.dtype, dtype);
      t.is(array.length, n);
      t.is(array.byteLength, keys.byteLength);
      t.true(same(await array.read(), keys), dtype);
      t.true(same(await array.read(7, 100), keys.subarray(7, 107)), dtype);
      t.is((await array.read(n)).length, 0);
      const into = keys.slice();
      into.fill(into[0] as never);
      await array.readInto(into.subarray(3, 103), 7);
      t.true(same(into.subarray(3, 103), keys.subarray(7, 107)), `${dtype} into an array`);
      const raw = new Uint8Array(keys.byteLength);
      await array.readInto(raw);
      t.true(same(raw, keys), `${dtype} as bytes`);
      const odd = new Uint8Array(keys.byteLength + 1).subarray(1);
      await array.readInto(odd);
      t.true(same(odd, keys), `${dtype} as bytes anywhere`);
      await t.throwsAsync(array.readInto(into, 1), { instanceOf: InputError });
      array.dispose();
    }
  });

  test.serial(title('an allocated array can be written in pieces at odd offsets'), async (t) => {
    const sorter = await open();
    const keys = keysOf('u16', 'uniform', n) as Uint16Array;
    const array = sorter.createArray('u16', n);
    for (let at = 0; at < n; at += 97) await array.write(keys.subarray(at, at + 97), at);
    const read: Uint16Array = await array.read();
    t.true(same(read, keys));
    array.dispose();
  });

  test.serial(title('results are written at any offset, and nothing beside them'), async (t) => {
    const sorter = await open();
    for (const [dtype, width, count] of [
      ['u8', 8, n],
      ['f32', 2, n],
      ['u32', 4, n],
      ['u64', 8, n],
      // More keys than CPU devices sort without gathering them in cache lines.
      ['f32', 2, small ? n : 2 ** 16 + 21],
    ] as const) {
      const keys = keysOf(dtype, 'uniform', count);
      const Keys = keys.constructor as Uint32ArrayConstructor;
      const Values = (
        width === 8 ? BigUint64Array : width === 4 ? Uint32Array : Uint16Array
      ) as Uint32ArrayConstructor;
      const positions = referenceArgsort(bytesOf(keys), dtype);
      const values = new Values(
        Array.from({ length: count }, (_, i) => (width === 8 ? BigInt(i) : i)) as never,
      );
      // Neither at the same offset of a cache line, nor at a multiple of a key's width.
      for (const [keysAt, valuesAt] of [
        [1, 1],
        [5, 0],
        [3, 7],
      ] as const) {
        const [keyMemory, valueMemory] = [new Keys(count + 32), new Values(count + 32)];
        for (const memory of [keyMemory, valueMemory]) bytesOf(memory).fill(0xa5);
        const into = {
          keys: keyMemory.subarray(keysAt, keysAt + count),
          values: valueMemory.subarray(valuesAt, valuesAt + count),
        };
        const what = JSON.stringify({ dtype, keysAt, valuesAt });
        await sorter.sortPairs(keys as Uint32Array, values, { dtype: dtype as 'u32', into });
        t.true(same(into.keys, referenceSort(bytesOf(keys), dtype)), what);
        t.true(same(into.values, new Values(positions.map((at) => values[at] as number))), what);
        const clean = (memory: Uint32Array, at: number) =>
          [memory.subarray(0, at), memory.subarray(at + count)].every((rest) =>
            bytesOf(rest).every((byte) => byte === 0xa5),
          );
        t.true(clean(keyMemory, keysAt) && clean(valueMemory, valuesAt), what);
      }
    }
  });

  test.serial(title('arrays of allocPinned are sorted into each other and in place'), async (t) => {
    const sorter = await open();
    for (const dtype of ['u32', 'f64'] as const) {
      const keys = keysOf(dtype, 'special', 1025);
      const [array, into] = [sorter.allocPinned(dtype, 1025), sorter.allocPinned(dtype, 1025)];
      bytesOf(array).set(bytesOf(keys));
      await sorter.sort(array as never, { into: into as never });
      t.true(same(into, referenceSort(bytesOf(keys), dtype)), dtype);
      await sorter.sortInPlace(array as never, { descending: true });
      t.true(same(array, referenceSort(bytesOf(keys), dtype, { descending: true })), dtype);
      for (const one of [array, into]) await sorter.freePinned(one);
    }
  });

  test.serial(
    title('operations chain on the device, and the host engine also sorts device arrays'),
    async (t) => {
      const sorter = await open();
      const keys = keysOf('i64', 'uniform', n) as BigInt64Array;
      using uploaded = await sorter.upload(keys);
      using sorted = await sorter.sort(uploaded, { algorithm: 'host', verify: true });
      t.deepEqual(await sorted.read(), keys.toSorted());
      using again = await sorter.sort(sorted, { descending: true });
      t.deepEqual(await again.read(), keys.toSorted().reverse());
      const top = await sorter.topK(again, 5);
      t.deepEqual(await top.keys.read(), keys.toSorted().reverse().slice(0, 5));
      t.deepEqual(await top.indices.read(), Uint32Array.of(0, 1, 2, 3, 4));
      top.keys.dispose();
      top.indices.dispose();
    },
  );

  test.serial(title('arrays of a closed Sorter can still be freed'), async (t) => {
    const sorter = await Sorter.open({ device: (await open()).device?.id ?? 'host' });
    const array = sorter.allocPinned('u32', 1025);
    const closing = sorter.close();
    await t.notThrowsAsync(sorter.freePinned(array));
    await closing;
    await t.notThrowsAsync(sorter.freePinned(array));
    await t.throwsAsync(sorter.freePinned([1] as never), { instanceOf: InputError });
    t.throws(() => sorter.allocPinned('u32', 1), { instanceOf: UsageError });
  });

  test.serial(title('many arrays of the host are sorted in one call'), async (t) => {
    const sorter = await open();
    const arrays = [0, 1, 700, 65, small ? 130 : 40_000].map((length) => keysOf('f32', 'special', length));
    const sorted = await sorter.sortMany(arrays);
    const positions = await sorter.argsortMany(arrays, { descending: true });
    for (const [i, array] of arrays.entries()) {
      t.true(same(sorted[i] as Float32Array, referenceSort(bytesOf(array), 'f32')), `array ${i}`);
      const expected = referenceArgsort(bytesOf(array), 'f32', { descending: true });
      t.deepEqual([...(positions[i] as Uint32Array)], expected, `array ${i}`);
    }
  });
});

forEachDeviceSorter((title, open, small) => {
  test.serial(title('the report lists the kernels of each pass, and times them when asked to'), async (t) => {
    const sorter = await open();
    const random = (n: number) => keysOf('u32', 'uniform', n) as Uint32Array;
    const reports: SortReport[] = [];
    const onReport = (report: SortReport) => reports.push(report);
    await sorter.sort(random(20_000), { algorithm: 'amd', verify: true, profile: true, onReport });
    await sorter.sort(random(9_000), { algorithm: 'amd', advanced: { scan: 5 }, onReport });
    const [first, second] = reports;
    t.is(first?.algorithm, 'amd');
    t.deepEqual(first?.facts, { scan: 5, padded: 32_768 });
    t.is(first?.device.platform, sorter.device?.platform);
    t.deepEqual(first?.verified, { order: true, permutation: true });
    const stages = Object.fromEntries((first?.stages ?? []).map((stage) => [stage.stage, stage]));
    for (const kernel of [
      'histogram',
      'ScanArraysdim2',
      'prefixSum',
      'blockAddition',
      'ScanArraysdim1',
      'fixOffset',
      'permute',
    ]) {
      t.is(stages[kernel]?.launches, 4, kernel);
      t.true(small || (stages[kernel]?.seconds ?? 0) > 0, kernel); // not every driver measures
    }
    t.deepEqual(second?.facts, { scan: 5, padded: 16_384 });
    t.is(second?.verified, undefined);
    t.deepEqual(
      second?.stages.find(({ stage }) => stage === 'permute'),
      { stage: 'permute', launches: 4, seconds: null },
      'nothing is timed unless that is asked for',
    );
  });
});
