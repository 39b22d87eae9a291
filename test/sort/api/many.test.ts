/**
 * sortMany and argsortMany: many arrays in one call, on the host and on devices, with the results of separate sorts.
 */
import test from 'ava';
import { DTYPES, type Dtype, type KeyArray } from '../../../src/keys/dtype.js';
import type { Order } from '../../../src/keys/key-codec.js';
import { AbortedError, DtypeError, InputError, UsageError } from '../../../src/util/errors.js';
import { keysOf, SEED } from '../../distributions.js';
import { referenceArgsort, referenceSort } from '../../reference.js';
import { forEachFakeSorter } from '../fake-backend.js';

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
const same = (a: ArrayBufferView, b: ArrayBufferView) => Buffer.compare(bytesOf(a), bytesOf(b)) === 0;

const ORDERS: readonly Order[] = [{}, { descending: true }, { nan: 'first' }];

/** Arrays of many lengths, empty ones among them, each a view of its own memory. */
const arraysOf = (dtype: Dtype, lengths: readonly number[]): KeyArray[] =>
  lengths.map((n) => keysOf(dtype, 'special', n));

forEachFakeSorter((title, open) => {
  const lengths = [0, 1, 2, 0, 7, 9, 33, 65, 1025, 3, 0];

  for (const dtype of DTYPES) {
    test.serial(title(`sortMany and argsortMany of ${dtype} match single sorts`), async (t) => {
      const sorter = await open();
      const arrays = arraysOf(dtype, lengths);
      const before = arrays.map((array) => array.slice());
      for (const order of ORDERS) {
        const expected = arrays.map((array) => ({
          sorted: referenceSort(bytesOf(array), dtype, order),
          positions: referenceArgsort(bytesOf(array), dtype, order),
        }));
        for (const verify of [false, true]) {
          const options = { dtype, ...order, verify };
          const sorted = await sorter.sortMany(arrays, options);
          const positions = await sorter.argsortMany(arrays, options);
          t.is(sorted.length, arrays.length);
          t.is(positions.length, arrays.length);
          for (const [i, array] of arrays.entries()) {
            const what = `array ${i} ${JSON.stringify(options)} seed ${SEED}`;
            t.is(sorted[i]?.constructor, array.constructor, what);
            t.true(same(sorted[i] as KeyArray, expected[i]?.sorted as KeyArray), what);
            t.deepEqual([...(positions[i] as Uint32Array)], expected[i]?.positions, what);
          }
          t.is(new Set(sorted.map(({ buffer }) => buffer)).size, 1, 'views of one buffer');
          t.is(new Set(positions.map(({ buffer }) => buffer)).size, 1, 'views of one buffer');
          t.false(
            arrays.some(({ buffer }) => buffer === sorted[0]?.buffer),
            'which is new',
          );
        }
      }
      for (const [i, array] of arrays.entries()) t.true(same(array, before[i] as KeyArray), 'inputs stay');
    });
  }

  test.serial(title('sortMany accepts no arrays, empty arrays and one array'), async (t) => {
    const sorter = await open();
    t.deepEqual(await sorter.sortMany([]), []);
    t.deepEqual(await sorter.argsortMany([]), []);
    const empty = await sorter.sortMany([new Float64Array(), new Float64Array()]);
    t.deepEqual(empty, [new Float64Array(), new Float64Array()]);
    t.deepEqual(await sorter.argsortMany([new Float64Array()]), [new Uint32Array()]);
    t.deepEqual(await sorter.sortMany([Int8Array.of(3, -1, 2)]), [Int8Array.of(-1, 2, 3)]);
  });

  test.serial(title('sortMany accepts bytes as keys, any offset and shared memory'), async (t) => {
    const sorter = await open();
    const bytes = Uint8Array.from({ length: 41 }, (_, i) => (i * 89) % 251);
    const arrays = [bytes.subarray(1, 33), bytes.subarray(3, 11), bytes.subarray(5, 5)];
    const sorted = await sorter.sortMany(arrays, { dtype: 'u64' });
    for (const [i, array] of arrays.entries()) {
      t.true(same(sorted[i] as Uint8Array, referenceSort(array.slice(), 'u64')));
    }
    const words = new Uint32Array(new SharedArrayBuffer(16));
    words.set([4, 1, 3, 2]);
    t.deepEqual(await sorter.sortMany([words as unknown as Uint32Array<ArrayBuffer>]), [
      Uint32Array.of(1, 2, 3, 4),
    ]);
    const [text] = await sorter.sortMany([Buffer.from('cab')]);
    t.true(Buffer.isBuffer(text));
    t.is(String(text), 'abc');
  });

  test.serial(title('sortMany keeps the order of arrays that it sorts in several parts'), async (t) => {
    const sorter = await open();
    const numbers = (n: number) => Float64Array.from(keysOf('u32', 'uniform', n) as Uint32Array);
    const keys = numbers(5000);
    // Several parts of small arrays, and one array that makes its part larger than the others.
    const arrays = Array.from({ length: 800 }, (_, i) => keys.slice(i % 17, 5000 - (i % 31)));
    arrays.splice(300, 0, numbers(2 ** 20 + 5));
    const sorted = await sorter.sortMany(arrays);
    const positions = await sorter.argsortMany(arrays);
    for (const [i, array] of arrays.entries()) {
      t.true(same(sorted[i] as Float64Array, array.toSorted()), `array ${i}`);
      const order = positions[i] as Uint32Array;
      const moved = array.map((_, at) => array[order[at] as number] as number);
      t.true(same(moved, sorted[i] as Float64Array), `array ${i}`);
    }
  });

  test.serial(title('sortMany sorts large, small, fixed and resizable arrays in one call'), async (t) => {
    const sorter = await open();
    const Resizable = ArrayBuffer as unknown as new (bytes: number, options: object) => ArrayBuffer;
    const inputs = [0, 3, 700, 1500].map((n) => keysOf('f32', 'special', n) as Float32Array);
    const expected = inputs.map((keys) => referenceSort(bytesOf(keys).slice(), 'f32', { nan: 'first' }));
    const arrays: Float32Array[] = [];
    for (let i = 0; i < 5000; i++) {
      const keys = inputs[i % 4] as Float32Array;
      if (i % 5 > 0) {
        const moved = new Float32Array(keys.length + 1).subarray(1);
        moved.set(keys);
        arrays.push(i % 5 > 1 ? keys : moved);
        continue;
      }
      const own = new Float32Array(new Resizable(keys.byteLength, { maxByteLength: 2 * keys.byteLength }));
      own.set(keys);
      arrays.push(own);
    }
    for (const turn of ['first', 'in memory of the first']) {
      const sorted = await sorter.sortMany(arrays, { nan: 'first' });
      t.is(sorted.length, arrays.length);
      t.is(
        sorted.findIndex((array, i) => !same(array, expected[i % 4] as KeyArray)),
        -1,
        turn,
      );
    }
  });

  test.serial(title('an aborted sortMany does not affect other calls'), async (t) => {
    const sorter = await open();
    const keys = keysOf('u32', 'uniform', 5000) as Uint32Array;
    const arrays = Array.from({ length: 400 }, (_, i) => keys.slice(i % 17));
    const stop = new AbortController();
    const aborted = sorter.sortMany(arrays, { signal: stop.signal });
    const others = sorter.sortMany(arrays);
    setTimeout(() => stop.abort(), 5);
    const whole = await aborted.catch((error) => {
      t.true(error instanceof AbortedError);
      return []; // unless it was sooner
    });
    const all = [...(await others), ...(await sorter.sortMany(arrays)), ...whole];
    const expected = arrays.slice(0, 17).map((array) => array.toSorted());
    t.deepEqual(
      all.findIndex((sorted, i) => !same(sorted, expected[(i % arrays.length) % 17] as Uint32Array)),
      -1,
    );
  });

  test.serial(title('sortMany reports all arrays, and wrong arguments are typed errors'), async (t) => {
    const sorter = await open();
    const arrays = [Uint32Array.of(3, 1, 2), Uint32Array.of(9, 8)];
    const reports: number[] = [];
    await sorter.sortMany(arrays, { verify: true, onReport: ({ n }) => reports.push(n) });
    t.deepEqual([...new Set(reports)], [5]);
    const mixed = [arrays[0], Float32Array.of(1)] as KeyArray[];
    await t.throwsAsync(sorter.sortMany(mixed), { instanceOf: DtypeError, message: /array 1/ });
    await t.throwsAsync(sorter.argsortMany(mixed), { instanceOf: DtypeError });
    for (const [at, given] of [
      [0, [[1, 2]]],
      [1, [arrays[0], undefined]],
    ] as const) {
      const refused = { instanceOf: InputError, message: new RegExp(` for array ${at} but got `) };
      await t.throwsAsync(sorter.sortMany(given as never), refused);
    }
    await t.throwsAsync(sorter.sortMany(Uint32Array.of(1) as never), { instanceOf: InputError });
    await t.throwsAsync(sorter.sortMany([], { descnding: true } as object), { instanceOf: UsageError });
    await t.throwsAsync(sorter.sortMany(arrays, { dtype: 'f64' }), { instanceOf: DtypeError });
    const odd = [new Uint8Array(8), new Uint8Array(7)];
    await t.throwsAsync(sorter.sortMany(odd, { dtype: 'u32' }), {
      instanceOf: InputError,
      message: /array 1/,
    });
    const gone = Uint32Array.of(1, 2);
    structuredClone(gone.buffer, { transfer: [gone.buffer] });
    await t.throwsAsync(sorter.sortMany([arrays[0] as Uint32Array, gone]), { instanceOf: InputError });
    await t.throwsAsync(sorter.sortMany(arrays, { signal: AbortSignal.abort() }), {
      instanceOf: AbortedError,
    });
    t.deepEqual(await sorter.sortMany(arrays), [Uint32Array.of(1, 2, 3), Uint32Array.of(8, 9)]);
  });
});
