/** Host arrays may begin at any element, at any alignment of key vectors: devices read some in place. */
import test from 'ava';
import { ALGORITHMS } from '../../../src/algorithms/registry.js';
import type { KeyArray } from '../../../src/keys/dtype.js';
import { UnsupportedError } from '../../../src/util/errors.js';
import { keysOf } from '../../distributions.js';
import { forEachSorter } from '../../each-sorter.js';

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
const same = (a: ArrayBufferView, b: ArrayBufferView) => Buffer.compare(bytesOf(a), bytesOf(b)) === 0;

/** The same elements at an offset of some elements. */
function shifted<K extends KeyArray>(array: K, elements: number): K {
  const larger = new (array.constructor as new (length: number) => K)(array.length + elements);
  (larger as Uint8Array).set(array as Uint8Array, elements);
  return larger.subarray(elements) as K;
}

forEachSorter((title, open, small) => {
  const n = small ? 300 : 5003;
  const dtypes = ['u8', 'u16', 'i32', 'u64'] as const;

  // The host engine has one algorithm.
  const names = title('').startsWith('host') ? [] : ALGORITHMS.map((algorithm) => algorithm.name);
  for (const name of ['auto' as const, ...names]) {
    test.serial(title(`${name} sorts keys at any element offset`), async (t) => {
      const sorter = await open();
      let [right, refused] = [0, 0];
      // Some algorithms sort only few keys.
      for (const count of [n, 60]) {
        for (const dtype of dtypes) {
          const keys = keysOf(dtype, 'uniform', count);
          const expected = await sorter.sort(keys, { algorithm: 'host' });
          for (const elements of [1, 3]) {
            try {
              const sorted = await sorter.sort(shifted(keys, elements), { algorithm: name });
              t.true(same(sorted, expected), `${count} ${dtype}, ${elements} elements behind`);
              right++;
            } catch (error) {
              if (!(error instanceof UnsupportedError)) throw error;
              refused++;
            }
          }
        }
      }
      // A device may have no such algorithm.
      t.true(right > 0 || refused === 2 * 2 * dtypes.length);
    });
  }

  test.serial(title('operations accept keys, values and results at any element offset'), async (t) => {
    const sorter = await open();
    for (const dtype of dtypes) {
      const keys = keysOf(dtype, 'uniform', n);
      const values = keysOf('u32', 'uniform', n);
      const at = (array: KeyArray) => shifted(array, 1);
      const isBelow = { below: keys[n >> 1] as number };
      for (const [what, make] of Object.entries({
        argsort: (own: KeyArray) => sorter.argsort(own),
        scan: (own: KeyArray) => sorter.scan(own, { op: 'max' }),
        filter: (own: KeyArray) => sorter.filter(own, isBelow),
        unique: async (own: KeyArray) => (await sorter.unique(own)).keys,
        topK: async (own: KeyArray) => (await sorter.topK(own, 100)).keys,
        values: async (own: KeyArray) =>
          (await sorter.sortPairs(own, own === keys ? values : at(values))).values as KeyArray,
        into: (own: KeyArray) =>
          own === keys ? sorter.sort(own) : sorter.sort(own, { into: at(keys) as never }),
      })) {
        t.true(
          same((await make(at(keys))) as KeyArray, (await make(keys)) as KeyArray),
          `${what} of ${dtype}`,
        );
      }
      t.is(await sorter.reduce(at(keys), 'max'), await sorter.reduce(keys, 'max'), dtype);
    }
  });

  test.serial(
    title('values are moved correctly from offsets that are no multiples of their own size'),
    async (t) => {
      const sorter = await open();
      for (const algorithm of ['auto' as const, ...names.filter((name) => name === 'serial')]) {
        for (const words of [2, 4]) {
          const keys = keysOf('u16', 'uniform', n);
          const values = keysOf('u32', 'uniform', n * words);
          const expected = await sorter.sortPairs(keys, values, { algorithm: 'host' });
          for (const elements of [1, 2, 3]) {
            const into = { keys: new Uint16Array(n), values: shifted(new Uint32Array(n * words), elements) };
            const made = await sorter.sortPairs(keys, shifted(values, elements), { algorithm, into });
            t.true(
              same(made.values, expected.values),
              `${algorithm}: ${words} words, ${elements} elements behind`,
            );
          }
        }
      }
    },
  );

  test.serial(title('results are written into byte arrays at any offset'), async (t) => {
    const sorter = await open();
    const dtype = 'f64';
    const keys = await sorter.sort(keysOf(dtype, 'uniform', n));
    const bytes = new Uint8Array(keys.buffer, keys.byteOffset, keys.byteLength);
    const positions = Uint32Array.from({ length: n }, (_, i) => n - 1 - i);
    for (const [what, make] of Object.entries({
      sort: (into: Uint8Array) => sorter.sort(bytes, { dtype, into }),
      segmentedSort: (into: Uint8Array) => sorter.segmentedSort(bytes, [0, n >> 1, n], { dtype, into }),
      scan: (into: Uint8Array) => sorter.scan(bytes, { dtype, into, op: 'max', inclusive: true }),
      gather: (into: Uint8Array) => sorter.gather(bytes, positions, { dtype, into }),
      partition: async (into: Uint8Array) =>
        (await sorter.partition(bytes, { above: 0 }, { dtype, into })).keys,
      merge: (into: Uint8Array) => sorter.merge(bytes.subarray(0, 8), bytes.subarray(8), { dtype, into }),
      mergeMany: (into: Uint8Array) =>
        sorter.mergeMany([bytes.subarray(0, 8), bytes.subarray(8, 16), bytes.subarray(16)], { dtype, into }),
    })) {
      const aligned = await make(new Uint8Array(bytes.length));
      const into = shifted(new Uint8Array(bytes.length), 3);
      t.is(await make(into), into, what);
      t.true(same(into, aligned), what);
    }
  });
});
