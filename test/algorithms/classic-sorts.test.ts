/**
 * Whole sorts by the classic algorithms, against the reference: order, permutation and stability of every dtype,
 * distribution, window and form (sizes are in every-algorithm.test.ts).
 */
import test, { type ExecutionContext } from 'ava';
import type { AlgorithmFactory, Stage } from '../../src/algorithms/algorithm.js';
import { bitonic } from '../../src/algorithms/bitonic.js';
import { merge } from '../../src/algorithms/merge.js';
import { ODD_EVEN_MAX, oddEven } from '../../src/algorithms/odd-even.js';
import type { Tuning } from '../../src/algorithms/parameters.js';
import { ALGORITHMS } from '../../src/algorithms/registry.js';
import { createRowSort, ROW_MAX, rowSort } from '../../src/algorithms/row-sort.js';
import { splitRadix } from '../../src/algorithms/split-radix.js';
import { DTYPES, type Dtype, type KeyArray } from '../../src/keys/dtype.js';
import { keyCodec } from '../../src/keys/key-codec.js';
import { UsageError } from '../../src/util/errors.js';
import { Random } from '../../src/util/random.js';
import { bitWindows, DISTRIBUTIONS, keysOf, SEED } from '../distributions.js';
import { forEachDevice } from '../each-device.js';
import { pick, referenceArgsort, sameMultiset } from '../reference.js';
import { bytesOf, positionBytes, type SortCase, sortBytes } from './sorts.js';

interface Subject {
  readonly factory: AlgorithmFactory;
  /** Maximum number of keys on a fast device and on a simulator. */
  readonly most: readonly [fast: number, small: number];
}

const SUBJECTS: readonly Subject[] = [
  { factory: splitRadix, most: [2 ** 20 + 3, 1025] },
  { factory: rowSort, most: [ROW_MAX, ROW_MAX] },
  { factory: bitonic, most: [2 ** 20 + 3, 3001] },
  { factory: oddEven, most: [ODD_EVEN_MAX, 65] },
  { factory: merge, most: [2 ** 20 + 3, 3001] },
];

/** Bytes of one key of an array. */
const unitOf = (keys: KeyArray): number => keys.BYTES_PER_ELEMENT;

/** All windows of 32 bits, including the 33 empty ones. */
const EVERY_WINDOW = Array.from({ length: 33 }, (_, begin) =>
  Array.from({ length: 33 - begin }, (_, bits): [number, number] => [begin, begin + bits]),
).flat();

forEachDevice((title, device, small) => {
  for (const { factory, most: maxKeys } of SUBJECTS) {
    const claim = (text: string) => title(`${factory.name} ${text}`);
    const limit = maxKeys[small ? 1 : 0];
    const usual = Math.min(limit, small ? 257 : 2003);

    async function expectSorted(
      t: ExecutionContext,
      keys: KeyArray,
      options: SortCase & { dtype: Dtype },
      by: AlgorithmFactory = factory,
    ): Promise<void> {
      const bytes = bytesOf(keys);
      const { dtype, order, bits, values, indices } = options;
      const positions = referenceArgsort(bytes, dtype, { ...order, ...(bits && { bits }) });
      const result = await sortBytes(await device(), by, bytes, options);
      const equal = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0;
      const what = JSON.stringify({
        dtype,
        order,
        bits,
        n: keys.length,
        tuning: options.tuning,
        seed: `${SEED}`,
      });
      t.true(equal(result.keys, pick(bytes, unitOf(keys), positions)), `keys of ${what}`);
      if (indices) t.true(equal(result.values, positionBytes(positions, indices)), `positions of ${what}`);
      if (values) {
        t.true(equal(result.values, pick(values.bytes, values.width, positions)), `values of ${what}`);
      }
    }

    test.serial(
      claim('sorts every dtype ascending with NaNs last and descending with NaNs first'),
      async (t) => {
        for (const dtype of DTYPES) {
          const keys = keysOf(dtype, 'uniform', Math.min(usual, 301));
          for (const descending of [false, true]) {
            await expectSorted(t, keys, { dtype, order: { descending, nan: descending ? 'first' : 'last' } });
          }
        }
      },
    );

    test.serial(claim('sorts every distribution stably, in place and out of place'), async (t) => {
      for (const distribution of DISTRIBUTIONS) {
        const keys = keysOf('f32', distribution, usual);
        await expectSorted(t, keys, { dtype: 'f32', indices: 4, inPlace: true });
        await expectSorted(t, keys, { dtype: 'f32', order: { descending: true } });
      }
    });

    test.serial(claim('sorts stably on every bit window, including the empty one'), async (t) => {
      for (const dtype of ['u32', 'f64'] as const) {
        const keys = keysOf(dtype, 'uniform', Math.min(usual, 301));
        for (const bits of bitWindows(dtype)) {
          await expectSorted(t, keys, { dtype, bits, inPlace: bits[0] % 2 === 1 });
          await expectSorted(t, keys, { dtype, bits, indices: 4, order: { descending: true } });
        }
      }
    });

    for (const width of small ? [4, 16] : [1, 2, 4, 8, 16]) {
      test.serial(
        claim(`carries ${width}-byte values with their keys, in place and out of place`),
        async (t) => {
          const keys = keysOf('i32', 'two', usual);
          const values = { bytes: bytesOf(keysOf('u8', 'uniform', usual * width)), width };
          for (const inPlace of [false, true]) await expectSorted(t, keys, { dtype: 'i32', values, inPlace });
        },
      );
    }

    test.serial(claim('does not confuse keys of the largest and smallest codes with padding'), async (t) => {
      const keys = Uint32Array.from({ length: usual }, (_, i) => (i % 3 ? 0xffff_ffff : i % 2 ? i : 0));
      await expectSorted(t, keys, { dtype: 'u32', indices: 4 });
      await expectSorted(t, keys, { dtype: 'u32', indices: 4, order: { descending: true } });
    });

    test(claim('is registered and rejects 3-byte values'), async (t) => {
      t.regex(String(factory.available(await device(), { keyBits: 32, valueBytes: 3 })), /3 bytes/);
      t.true(ALGORITHMS.includes(factory));
    });
  }

  const tuned = async (
    t: ExecutionContext,
    factory: AlgorithmFactory,
    tuning: Tuning,
    n: number,
    bits: readonly [number, number] = [0, 32],
  ) => {
    const keys = keysOf('u32', 'two', n) as Uint32Array;
    for (const [i, key] of keys.entries()) keys[i] = key ^ (i % 5);
    const bytes = bytesOf(keys);
    const positions = referenceArgsort(bytes, 'u32', { bits });
    const sorted = await sortBytes(await device(), factory, bytes, { tuning, bits, indices: 4 });
    t.deepEqual(sorted.values, positionBytes(positions, 4), JSON.stringify({ tuning, n, bits }));
  };

  for (const radixBits of [1, 2, 3, 4]) {
    test.serial(
      title(`split sorts by ${radixBits}-bit digits, also on windows that end within a digit`),
      async (t) => {
        await tuned(t, splitRadix, { radixBits }, 700);
        await tuned(t, splitRadix, { radixBits }, 100, [1, 12]);
      },
    );
  }

  test.serial(title('bitonic sorts correctly across many small blocks and step by step'), async (t) => {
    for (const n of [1, 2, 3, 31, 63, 64, 65, 100, 129]) {
      await tuned(t, bitonic, { block: 8 }, n);
      await tuned(t, bitonic, { network: true }, n);
    }
  });

  test.serial(
    title('bitonic takes log n (log n + 1) / 2 steps and runs those within a block in one launch'),
    async (t) => {
      const launches = async (n: number, tuning: Tuning) => {
        const stages: string[] = [];
        const onStage = ({ kernel }: Stage) => stages.push(kernel);
        const keys = bytesOf(keysOf('u32', 'uniform', n));
        const sorted = await sortBytes(await device(), bitonic, keys, { tuning, onStage });
        t.deepEqual(sorted.keys, bytesOf(new Uint32Array(keys.buffer).toSorted()));
        return stages;
      };
      for (const log of [1, 3, 6]) {
        const network = await launches(2 ** log, { network: true });
        t.is(network.filter((kernel) => kernel === 'bitonic_step').length, (log * (log + 1)) / 2);
      }
      // One launch sorts blocks of 8; each merge then steps down to 8 and ends in one launch.
      const local = await launches(64, { block: 8 });
      t.is(local.filter((kernel) => kernel === 'bitonic_step').length, 1 + 2 + 3);
      t.is(local.filter((kernel) => kernel === 'bitonic_block').length, 1 + 3);
    },
  );

  test.serial(title('bitonic without tie-break keeps every key with its position'), async (t) => {
    const keys = keysOf('u32', 'two', 700) as Uint32Array;
    const { keys: sorted, values } = await sortBytes(await device(), bitonic, bytesOf(keys), {
      tuning: { stable: false },
      indices: 4,
    });
    const order = new Uint32Array(values.buffer);
    t.deepEqual(new Uint32Array(sorted.buffer), keys.toSorted());
    t.deepEqual(order.toSorted(), Uint32Array.from(keys.keys()));
    t.true(order.every((from, i) => keys[from] === new Uint32Array(sorted.buffer)[i]));
  });

  test.serial(title('merge meets all three regimes and odd numbers of runs on small tiles'), async (t) => {
    for (const n of [1, 3, 17, 33, 64, 65, 96, 97, 160, 191, 193, 300])
      await tuned(t, merge, { tile: 64 }, n);
    const kernels: string[] = [];
    const onStage = ({ kernel }: Stage) => kernels.push(kernel);
    await sortBytes(await device(), merge, bytesOf(keysOf('u32', 'uniform', 300)), {
      tuning: { tile: 64 },
      onStage,
    });
    t.deepEqual([...new Set(kernels)], ['merge_pairs', 'merge_local', 'merge_split', 'merge_tiles']);
  });

  test.serial(title('odd-even rejects more than 8192 keys, and row more than 64'), async (t) => {
    const ask = { dtype: 'u32', bits: [0, 32], valueBytes: 0 } as const;
    const shape = { keyBits: 32, valueBytes: 0 } as const;
    const sort = await oddEven.create(await device(), shape);
    t.is(sort.supports({ ...ask, n: 8192 }), true);
    t.regex(String(sort.supports({ ...ask, n: 8193 })), /8192/);
    const row = await rowSort.create(await device(), shape);
    t.is(row.supports({ ...ask, n: 64 }), true);
    t.regex(String(row.supports({ ...ask, n: 65 })), /64 keys/);
  });

  /** Sorts random rows over all windows with one form of the row sort, and compares every row. */
  async function expectRows(
    t: ExecutionContext,
    { rows, rowLength, tuning }: { rows: number; rowLength: number; tuning: Tuning },
  ): Promise<void> {
    const opened = await device();
    const shape = { keyBits: 32, valueBytes: 0, tuning: { ...tuning, row: rowLength } } as const;
    const sort = await createRowSort(opened, shape);
    const random = new Random(SEED);
    const windows = small ? bitWindows('u32') : EVERY_WINDOW;
    const share = Math.ceil(rows / windows.length);
    const wrong: string[] = [];
    for (const bits of windows) {
      const keys = Uint32Array.from({ length: share * rowLength }, () => random.u32());
      const input = opened.buffer(keys.byteLength);
      const output = opened.buffer(keys.byteLength);
      opened.queue.write(input, keys);
      const codec = keyCodec('u32');
      sort.enqueueRows(opened.queue, { from: input, to: output, n: keys.length, rowLength, codec, bits });
      const sorted = new Uint32Array(keys.length);
      opened.queue.read(output, sorted);
      await opened.queue.finish();
      input.release();
      output.release();
      const mask = (2 ** (bits[1] - bits[0]) - 1) >>> 0;
      const digit = (key: number) => (bits[0] === 32 ? 0 : ((key >>> bits[0]) & mask) >>> 0);
      for (let row = 0; row < share; row++) {
        const own = keys.subarray(row * rowLength, (row + 1) * rowLength);
        const expected = Array.from(own).sort((a, b) => digit(a) - digit(b));
        const got = sorted.subarray(row * rowLength, (row + 1) * rowLength);
        if (expected.some((key, i) => key !== got[i])) wrong.push(`row ${row} of window ${bits}`);
      }
    }
    t.deepEqual(wrong.slice(0, 8), [], `${wrong.length} rows are wrong, seed ${SEED}`);
  }

  const rows = small ? 40 : 100_000;
  for (const rowLength of [32, 64]) {
    test.serial(title(`row sort sorts ${rows} random rows of ${rowLength} keys on all bit windows`), (t) =>
      expectRows(t, { rows, rowLength, tuning: {} }),
    );
  }

  for (const vote of ['khr', 'ptx'] as const) {
    for (const rowLength of [32, 64]) {
      test.serial(
        title(
          `row sort of ${rowLength} keys votes by ${vote} if the device supports it and otherwise throws`,
        ),
        async (t) => {
          const { votes } = (await device()).capabilities;
          const tuning = { vote };
          if (votes.has(vote)) {
            await expectRows(t, { rows, rowLength, tuning });
          } else {
            const created = createRowSort(await device(), { keyBits: 32, valueBytes: 0, tuning });
            await t.throwsAsync(created, {
              instanceOf: UsageError,
              message: new RegExp(`for tuning.vote but got "${vote}"`),
            });
          }
        },
      );
    }
  }

  test.serial(title('row sort sorts short rows and a shorter last row'), async (t) => {
    const opened = await device();
    const sort = await createRowSort(opened, { keyBits: 32, valueBytes: 0 });
    const keys = keysOf('u32', 'uniform', 7 * 21 + 5) as Uint32Array;
    const buffer = opened.buffer(keys.byteLength);
    opened.queue.write(buffer, keys);
    sort.enqueueRows(opened.queue, {
      from: buffer,
      to: buffer,
      n: keys.length,
      rowLength: 21,
      codec: keyCodec('u32'),
      bits: [0, 32],
    });
    const sorted = new Uint32Array(keys.length);
    opened.queue.read(buffer, sorted);
    await opened.queue.finish();
    buffer.release();
    t.true(sameMultiset(bytesOf(sorted), bytesOf(keys), 4));
    for (let first = 0; first < keys.length; first += 21) {
      t.deepEqual(sorted.slice(first, first + 21), keys.slice(first, first + 21).toSorted());
    }
  });
});
