/** Arrays that are in order already, or nearly: they are moved at once only where that is the sorted result. */
import type { ExecutionContext } from 'ava';
import type { AlgorithmFactory } from '../../src/algorithms/algorithm.js';
import { hybridRadix } from '../../src/algorithms/hybrid-radix.js';
import { onesweep } from '../../src/algorithms/onesweep.js';
import type { Tuning } from '../../src/algorithms/parameters.js';
import { enqueueWithScratch } from '../../src/algorithms/run.js';
import { serialRadix } from '../../src/algorithms/serial-radix.js';
import { type Dtype, dtypeInfo } from '../../src/keys/dtype.js';
import { keyCodec } from '../../src/keys/key-codec.js';
import { bitWindows, dtypesOn, keysOf } from '../distributions.js';
import { forEachOpened, testIf } from '../each-device.js';
import { pick, referenceArgsort } from '../reference.js';
import { bytesOf, POISON, positionBytes, type SortCase, sortBytes } from './sorts.js';

/** Keys of a tile: small, so that few keys have many edges of tiles. */
const TILE = 64;
const PATIENT = 2 ** 32 - 1;
const SWEEP: Tuning = {
  groupSize: 16,
  keysPerItem: TILE / 16,
  histogramSize: 16,
  histogramColumns: 1,
  lookBack: 2,
};

interface Sort {
  readonly factory: AlgorithmFactory;
  readonly most: number;
  readonly tuning: Tuning;
  readonly able?: true | string;
}

await forEachOpened((title, device, small, name) => {
  const { quirks } = device.capabilities;
  const spinLimit = Math.min(PATIENT, quirks.maxLoopIterations / 8);
  const miscompiled = name === 'rusticl' && Number.parseInt(device.info.driver, 10) >= 25;
  const sorts: readonly Sort[] = [
    {
      factory: onesweep,
      most: 5 * TILE + 3,
      tuning: { ...SWEEP, spinLimit },
      able: !miscompiled || 'rusticl 25 makes code of the pass that sorts wrong and may end the process',
    },
    {
      factory: hybridRadix,
      most: 5 * TILE + 3,
      tuning: { ...SWEEP, spinLimit, finishSize: 16, finishKeys: 2, finishGroups: 3 },
      able: !miscompiled || 'rusticl 25 makes code of the pass that sorts wrong and may end the process',
    },
    { factory: serialRadix, most: small ? 500 : 9000, tuning: {} },
  ];

  for (const { factory, most, tuning, able = true } of sorts) {
    const wide = factory === hybridRadix;
    const plain: Dtype = wide ? 'u64' : 'u32';
    const dtypes = dtypesOn(small).filter((dtype) => !wide || dtypeInfo(dtype).width === 64);
    const available = factory.available(device, { keyBits: wide ? 64 : 32, valueBytes: 0 });
    const check = (text: string, body: (t: ExecutionContext) => Promise<void>) =>
      testIf(able === true ? available : able, title(`${factory.name} ${text}`), body);

    /** Sorts, and compares keys, positions and values with the reference. */
    async function expectSorted(t: ExecutionContext, keys: Uint8Array, options: SortCase): Promise<void> {
      const { dtype = plain, order = {}, bits, values, indices } = options;
      const unit = dtypeInfo(dtype).bytes;
      const positions = referenceArgsort(keys, dtype, { ...order, ...(bits && { bits }) });
      const result = await sortBytes(device, factory, keys, { ...options, dtype, tuning });
      const what = JSON.stringify({
        dtype,
        order,
        bits,
        indices,
        inPlace: options.inPlace,
        n: positions.length,
      });
      t.is(result.status, 0, what);
      t.is(Buffer.compare(result.keys, pick(keys, unit, positions)), 0, `keys of ${what}`);
      const moved = values
        ? pick(values.bytes, values.width, positions)
        : indices && positionBytes(positions, indices);
      if (moved) t.is(Buffer.compare(result.values, moved), 0, `values of ${what}`);
    }

    /** Different keys of a dtype in an order, or in the opposite one. */
    function inOrder(dtype: Dtype, order: SortCase['order'], n: number, isReversed: boolean): Uint8Array {
      const unit = dtypeInfo(dtype).bytes;
      const keys = bytesOf(keysOf(dtype, 'uniform', n));
      const sorted = pick(keys, unit, referenceArgsort(keys, dtype, order));
      const kept = Array.from({ length: n }, (_, i) => i).filter(
        (i) =>
          i === 0 ||
          Buffer.compare(
            sorted.subarray((i - 1) * unit, i * unit),
            sorted.subarray(i * unit, (i + 1) * unit),
          ) !== 0,
      );
      return pick(sorted, unit, isReversed ? kept.toReversed() : kept);
    }

    const count = (n: number, make: (i: number) => number): Uint8Array => {
      const numbers = Array.from({ length: n }, (_, i) => make(i));
      return bytesOf(wide ? BigUint64Array.from(numbers, BigInt) : Uint32Array.from(numbers));
    };

    check('keeps sorted arrays and reverses descending ones of every dtype and order', async (t) => {
      for (const dtype of dtypes) {
        for (const descending of [false, true]) {
          for (const nan of ['first', 'last'] as const) {
            const order = { descending, nan };
            for (const isReversed of [false, true]) {
              const keys = inOrder(dtype, order, Math.min(most, 500), isReversed);
              await expectSorted(t, keys, { dtype, order, indices: 4 });
              await expectSorted(t, keys, { dtype, order, indices: 4, inPlace: true });
              await expectSorted(t, keys, { dtype, order });
              await expectSorted(t, keys, { dtype, order, inPlace: true });
            }
          }
        }
      }
    });

    check('moves values and positions of every width, in place and out of place', async (t) => {
      for (const isReversed of [false, true]) {
        const n = most - 2;
        const keys = count(n, (i) => 5 * (isReversed ? n - i : i) + 3);
        for (const inPlace of [false, true]) {
          for (const indices of [4, 8] as const) await expectSorted(t, keys, { indices, inPlace });
          for (const width of [1, 8]) {
            const values = { bytes: bytesOf(keysOf('u8', 'uniform', n * width, 7n)), width };
            await expectSorted(t, keys, { values, inPlace });
          }
        }
      }
    });

    check('sorts arrays with one pair out of order, wherever it is', async (t) => {
      const edges = [0, 1, 2, 3, 4, 14, 15, 16, 62, 63, 64, 65, 127, 128, 255, 256, most - 3, most - 2];
      for (const at of edges.filter((edge) => edge >= 0 && edge + 1 < most)) {
        const swap = (i: number) => (i === at ? i + 1 : i === at + 1 ? i - 1 : i);
        for (const keys of [count(most, swap), count(most, (i) => most - swap(i))]) {
          await expectSorted(t, keys, { indices: 4 });
          await expectSorted(t, keys, {});
        }
        // A tie among descending keys: a reversal would exchange the equal keys.
        await expectSorted(
          t,
          count(most, (i) => most - (i === at + 1 ? at : i)),
          { indices: 4 },
        );
        await expectSorted(
          t,
          count(most, (i) => (i === at + 1 ? at : i)),
          { indices: 4 },
        );
      }
    });

    check('sorts few and equal keys, and sizes next to those of tiles', async (t) => {
      const sizes = [
        1,
        2,
        3,
        5,
        15,
        16,
        17,
        TILE - 1,
        TILE,
        TILE + 1,
        2 * TILE - 1,
        2 * TILE,
        2 * TILE + 1,
        most,
      ];
      for (const n of sizes.filter((size) => size <= most)) {
        await expectSorted(
          t,
          count(n, () => 7),
          { indices: 4 },
        );
        await expectSorted(
          t,
          count(n, () => 0xffff_ffff),
          { indices: 4 },
        );
        await expectSorted(
          t,
          count(n, (i) => i),
          { indices: 4 },
        );
        await expectSorted(
          t,
          count(n, (i) => n - i),
          { indices: 4 },
        );
      }
    });

    check('finds the order by the compared bits alone', async (t) => {
      const n = Math.min(most, 250);
      for (const bits of bitWindows(plain)) {
        const [begin] = bits;
        for (const isReversed of [false, true]) {
          const keys = bytesOf(keysOf(plain, 'uniform', n));
          const rank = (i: number) => BigInt(isReversed ? n - i : i) << BigInt(begin);
          const window = (((1n << BigInt(bits[1])) - 1n) >> BigInt(begin)) << BigInt(begin);
          const words = wide ? new BigUint64Array(keys.buffer) : new Uint32Array(keys.buffer);
          // Random bits around a window that is in order.
          const made = Array.from<number | bigint, bigint>(
            words,
            (word, i) => (BigInt(word) & ~window) | (rank(i) & window),
          );
          const all = wide ? BigUint64Array.from(made) : Uint32Array.from(made, Number);
          await expectSorted(t, bytesOf(all), { bits, indices: 4 });
          await expectSorted(t, bytesOf(all), {
            bits,
            values: { bytes: bytesOf(keysOf('u32', 'uniform', n)), width: 4 },
            inPlace: true,
          });
        }
      }
    });

    check('sorts arrays in order and random ones in turns', async (t) => {
      const n = Math.min(most, 300);
      const unit = wide ? 8 : 4;
      const shape = { keyBits: wide ? 64 : 32, valueBytes: 0, tuning } as const;
      const algorithm = await factory.create(device, shape);
      const [input, output] = [device.buffer(n * unit), device.buffer(n * unit)];
      const arrays = [
        count(n, (i) => i),
        bytesOf(keysOf(plain, 'uniform', n)),
        count(n, (i) => n - i),
        count(n, (i) => i),
        count(n, (i) => n - (i === 9 ? 8 : i)),
        count(n, (i) => n - i),
      ];
      for (const keys of [...arrays, ...arrays]) {
        device.queue.write(input, keys);
        device.queue.fill(output, POISON);
        const { release } = enqueueWithScratch(algorithm, device.queue, {
          ...{ n, input, output, codec: keyCodec(plain), bits: [0, 8 * unit] },
        });
        const sorted = new Uint8Array(n * unit);
        device.queue.read(output, sorted);
        await device.queue.finish();
        release();
        t.deepEqual(sorted, pick(keys, unit, referenceArgsort(keys, plain)));
      }
      input.release();
      output.release();
    });

    check('takes no pass over arrays in order', async (t) => {
      const n = Math.min(most, 200);
      /** Whether passes after the first have run. */
      const passes = async (make: (i: number) => number): Promise<boolean> => {
        let left: Readonly<Record<string, Uint32Array>> = {};
        await sortBytes(device, factory, count(n, make), {
          ...{ dtype: plain, tuning, inPlace: true, indices: 4 },
          onScratch: (scratch) => {
            left = scratch;
          },
        });
        return left.alternateKeys?.some((word) => word !== POISON) ?? true;
      };
      t.true(await passes((i) => (i * 77) % n));
      t.false(await passes((i) => i));
      t.false(await passes((i) => n - i));
      t.true(await passes((i) => n - (i === 9 ? 8 : i)));
    });
  }
});
