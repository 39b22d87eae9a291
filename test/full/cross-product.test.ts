/**
 * Orders, forms, sizes, distributions and windows of bits against each other, for every dtype.
 *
 * Up to 257 keys CLSORT_TEST_FULL=1 tests the whole product; other runs test combinations in which every pair of values of different axes
 * occurs, as all runs do above 257 keys. CLSORT_TEST_SEED repeats a run.
 */
import test from 'ava';
import { Sorter } from '../../src/index.js';
import { DTYPES, type Dtype, dtypeInfo, type KeyArray } from '../../src/keys/dtype.js';
import { bitWindows, DISTRIBUTIONS, keysOf, SEED } from '../distributions.js';
import { forEachSorter } from '../each-sorter.js';
import { combinations, pairwise } from '../pairwise.js';
import { pick, type ReferenceOrder, referenceArgsort } from '../reference.js';

/** Simulators and slow drivers test one in this many of the pairwise combinations. */
const SHARE_SMALL = 6;

const SIZES = [0, 1, 2, 3, 31, 32, 33, 255, 256, 257];
const LARGE_SIZES = [1023, 4095, 4096, 4097, 16_383, 16_384, 16_385, 65_535, 65_536, 65_537];
const LARGEST = 2 ** 20 + 3;
const ORDERS = [
  {},
  { descending: true },
  { nan: 'first' },
  { descending: true, nan: 'first' },
] as const satisfies readonly ReferenceOrder[];
const FORMS = ['keys', 'pairs', 'argsort'] as const;
type Form = (typeof FORMS)[number];

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
const same = (a: ArrayBufferView, b: ArrayBufferView) => Buffer.compare(bytesOf(a), bytesOf(b)) === 0;

/**
 * Sorts in one form.
 * @returns whether keys and positions are as expected
 */
async function sortsRight(
  sorter: Sorter,
  keys: KeyArray,
  form: Form,
  options: ReferenceOrder & { readonly dtype: Dtype },
  positions: Uint32Array,
): Promise<boolean> {
  if (form === 'argsort') return same(await sorter.argsort(keys, options), positions);
  const { bytes } = dtypeInfo(options.dtype);
  const sorted = pick(bytesOf(keys), bytes, [...positions]);
  if (form === 'keys') return same(await sorter.sort(keys, options), sorted);
  const pairs = await sorter.sortPairs(keys, Uint32Array.from(positions.keys()), options);
  return same(pairs.keys, sorted) && same(pairs.values, positions);
}

forEachSorter((title, open, small) => {
  for (const dtype of DTYPES) {
    test.serial(
      title(
        `sorts up to 257 ${dtype} keys with every pair of order, form, size, distribution and window, seed ${SEED}`,
      ),
      async (t) => {
        const sorter = await open();
        const windows = bitWindows(dtype);
        const wrong: string[] = [];
        const chosen = combinations(
          [ORDERS, SIZES, DISTRIBUTIONS, windows, FORMS] as const,
          SEED + BigInt(DTYPES.indexOf(dtype)),
        ).filter((_, i) => !small || i % SHARE_SMALL === 0);
        for (const [order, size, distribution, window, form] of chosen) {
          const keys = keysOf(dtype, distribution, size);
          const options = { ...order, bitRange: window, dtype };
          const positions = Uint32Array.from(referenceArgsort(bytesOf(keys), dtype, options));
          if (!(await sortsRight(sorter, keys, form, options, positions))) {
            wrong.push(`${form} of ${keys.length} ${distribution} ${JSON.stringify(options)}`);
          }
        }
        t.deepEqual(wrong, []);
        t.true(chosen.length >= (small ? 20 : DISTRIBUTIONS.length * SIZES.length));
      },
    );
  }

  if (small) return;

  test.serial(title(`sorts more than 257 keys with every pair of options, seed ${SEED}`), async (t) => {
    const sorter = await open();
    await using host = await Sorter.open({ device: 'host' });
    const windows = bitWindows('u32').length;
    const axes = [DTYPES, ORDERS, FORMS, LARGE_SIZES, DISTRIBUTIONS, Array.from({ length: windows })];
    const chosen = pairwise(
      axes.map(({ length }) => length),
      SEED,
    );
    const wrong: string[] = [];
    for (const [d = 0, o = 0, f = 0, s = 0, p = 0, w = 0] of chosen) {
      const dtype = DTYPES[d] ?? 'u32';
      const form = FORMS[f] ?? 'keys';
      const bits = bitWindows(dtype)[w] ?? [0, dtypeInfo(dtype).width];
      const options = { ...ORDERS[o], bitRange: bits, dtype };
      const keys = keysOf(dtype, DISTRIBUTIONS[p] ?? 'uniform', LARGE_SIZES[s] ?? 0);
      // Other tests compare the host engine with the plain reference.
      const positions = await host.argsort(keys, options);
      if (!(await sortsRight(sorter, keys, form, options, positions))) {
        wrong.push(`${form} of ${keys.length} ${DISTRIBUTIONS[p]} ${JSON.stringify(options)}`);
      }
    }
    t.deepEqual(wrong, []);
    t.true(chosen.length >= DISTRIBUTIONS.length * DTYPES.length);
  });

  test.serial(title(`sorts 2^20 + 3 keys of every dtype, seed ${SEED}`), async (t) => {
    const sorter = await open();
    await using host = await Sorter.open({ device: 'host' });
    for (const [i, dtype] of DTYPES.entries()) {
      const keys = keysOf(dtype, DISTRIBUTIONS[i % DISTRIBUTIONS.length] ?? 'uniform', LARGEST);
      const options = { ...ORDERS[i % ORDERS.length], dtype };
      const positions = await host.argsort(keys, options);
      t.true(same(await sorter.argsort(keys, options), positions), dtype);
      t.true(same(await sorter.sort(keys, options), await host.sort(keys, options)), dtype);
    }
  });
});
