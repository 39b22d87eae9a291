/**
 * Properties of every sort, for generated keys and options. A failure
 * prints its seed and path, by which fast-check repeats it.
 */
import test from 'ava';
import fc from 'fast-check';
import { Sorter } from '../../src/index.js';
import { emptyLike } from '../../src/keys/array.js';
import { DTYPES, type Dtype, dtypeInfo, type KeyArray } from '../../src/keys/dtype.js';
import { keysOf, SEED } from '../distributions.js';
import { forEachSorter } from '../each-sorter.js';
import { FULL } from '../pairwise.js';
import { patterns, type ReferenceOrder, referenceCode, sameMultiset } from '../reference.js';

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
const same = (a: ArrayBufferView, b: ArrayBufferView) => Buffer.compare(bytesOf(a), bytesOf(b)) === 0;

interface Input {
  readonly dtype: Dtype;
  readonly keys: KeyArray;
  readonly options: ReferenceOrder & { readonly dtype: Dtype };
}

/** Bytes as keys: random ones, and ones with few values, so that many are equal. */
const inputs = (most: number): fc.Arbitrary<Input> =>
  fc
    .record({
      dtype: fc.constantFrom(...DTYPES),
      bytes: fc.oneof(
        fc.uint8Array({ maxLength: most * 8, size: 'max' }),
        fc.array(fc.constantFrom(0, 1, 0x7f, 0x80, 0xff), { maxLength: most * 8, size: 'max' }),
      ),
      descending: fc.boolean(),
      nan: fc.constantFrom('first' as const, 'last' as const),
      window: fc.option(fc.tuple(fc.nat(64), fc.nat(64))),
    })
    .map(({ dtype, bytes, descending, nan, window }) => {
      const { bytes: unit, width } = dtypeInfo(dtype);
      const n = Math.min(most, Math.floor(bytes.length / unit));
      const keys = emptyLike(keysOf(dtype, 'constant', 0), n);
      bytesOf(keys).set(bytes.slice(0, n * unit));
      const [a = 0, b = width] = window?.map((bit) => Math.min(bit, width)) ?? [];
      const bits = [Math.min(a, b), Math.max(a, b)] as const;
      return { dtype, keys, options: { dtype, descending, nan, ...(window && { bitRange: bits }) } };
    });

forEachSorter((title, open, small) => {
  const runs = { numRuns: FULL ? 2000 : small ? 5 : 120, seed: Number(SEED % 2n ** 31n) };
  const most = small ? 100 : 3000;

  test.serial(title(`every result is an ordered, stable permutation, seed ${runs.seed}`), async (t) => {
    const sorter = await open();
    await t.notThrowsAsync(
      fc.assert(
        fc.asyncProperty(inputs(most), async ({ dtype, keys, options }) => {
          const sorted = await sorter.sort(keys, options);
          const { bytes: unit, width } = dtypeInfo(dtype);
          if (!sameMultiset(bytesOf(sorted), bytesOf(keys), unit)) return false;
          const positions = await sorter.argsort(keys, options);
          const [begin, end] = options.bitRange ?? [0, width];
          const digit = (key: bigint) =>
            (referenceCode(dtype, options, key) >> BigInt(begin)) & ((1n << BigInt(end - begin)) - 1n);
          const input = patterns(bytesOf(keys), dtype);
          const output = patterns(bytesOf(sorted), dtype);
          return positions.every((position, i) => {
            if (output[i] !== input[position]) return false;
            const before = positions[i - 1];
            if (before === undefined) return true;
            const [a, b] = [digit(input[before] ?? 0n), digit(input[position] ?? 0n)];
            return a < b || (a === b && before < position);
          });
        }),
        runs,
      ),
    );
  });

  test.serial(title(`sorting a sorted array changes nothing, seed ${runs.seed}`), async (t) => {
    const sorter = await open();
    await t.notThrowsAsync(
      fc.assert(
        fc.asyncProperty(inputs(most), async ({ keys, options }) => {
          const once = await sorter.sort(keys, options);
          const positions = await sorter.argsort(once, options);
          return (
            same(await sorter.sort(once, options), once) && positions.every((position, i) => position === i)
          );
        }),
        runs,
      ),
    );
  });

  test.serial(title(`results equal those of the host engine, seed ${runs.seed}`), async (t) => {
    const sorter = await open();
    await using host = await Sorter.open({ device: 'host' });
    await t.notThrowsAsync(
      fc.assert(
        fc.asyncProperty(inputs(most), fc.integer({ min: 1, max: 16 }), async ({ keys, options }, width) => {
          const values = Uint8Array.from(
            { length: keys.length * width },
            (_, i) => (i * 7 + (i >> 8)) & 0xff,
          );
          const [a, b] = [
            await sorter.sortPairs(keys, values, options),
            await host.sortPairs(keys, values, options),
          ];
          return same(a.keys, b.keys) && same(a.values, b.values);
        }),
        runs,
      ),
    );
  });
});
