/** Whole sorts by the radix algorithms, against the reference: order, permutation and stability. */
import test from 'ava';
import type { AlgorithmFactory, AlgorithmShape } from '../../src/algorithms/algorithm.js';
import { onesweep } from '../../src/algorithms/onesweep.js';
import type { Tuning } from '../../src/algorithms/parameters.js';
import { persistentRadix } from '../../src/algorithms/persistent-radix.js';
import { serialRadix } from '../../src/algorithms/serial-radix.js';
import { singleWorkgroupRadix } from '../../src/algorithms/single-workgroup-radix.js';
import { tiledRadix } from '../../src/algorithms/tiled-radix.js';
import { tuningFor } from '../../src/algorithms/tuning.js';
import { type Dtype, dtypeInfo } from '../../src/keys/dtype.js';
import { UnsupportedError } from '../../src/util/errors.js';
import { bitWindows, DISTRIBUTIONS, dtypesOn, keysOf } from '../distributions.js';
import { forEachOpened, testIf } from '../each-device.js';
import { pick, referenceArgsort } from '../reference.js';
import { bytesOf, positionBytes, type SortCase, sortBytes } from './sorts.js';

const KEYS: AlgorithmShape = { keyBits: 32, valueBytes: 0 };
const PAIRS: AlgorithmShape = { keyBits: 32, valueBytes: 4 };

interface Sort {
  readonly factory: AlgorithmFactory;
  readonly most: number;
  /** Name of the variant that the other parameters select. */
  readonly form?: string;
  readonly tuning?: Tuning;
}

/**
 * Maximum number of keys in these tests. The group sort gets so few that one compiled program is enough, and fewer
 * where the compiler allows only small groups.
 */
const sorts = (small: boolean): readonly Sort[] => [
  { factory: onesweep, most: 3001 },
  { factory: persistentRadix, most: 1024 },
  { factory: tiledRadix, most: 3001 },
  { factory: singleWorkgroupRadix, most: small ? 100 : 1024 },
  { factory: serialRadix, most: 10_007 },
  { factory: serialRadix, most: 10_007, form: ' with cache lines', tuning: { lines: true } },
];

await forEachOpened((title, device, small) => {
  for (const { factory, most, form = '', tuning: own } of sorts(small)) {
    const claim = (text: string) => title(`${factory.name}${form} ${text}`);

    /** Declares a test that is skipped where the algorithm does not support the device. */
    const check = (text: string, body: (t: import('ava').ExecutionContext) => Promise<void>, shape = KEYS) =>
      testIf(factory.available(device, shape), claim(text), body);

    /** Sorts and compares all observable results. */
    async function expectSorted(
      t: import('ava').ExecutionContext,
      keys: ArrayBufferView,
      options: SortCase & { dtype: Dtype },
    ): Promise<void> {
      const bytes = bytesOf(keys);
      const { dtype, order, bits, values, indices } = options;
      const unit = bytes.byteLength / (keys as unknown as { length: number }).length || 1;
      const positions = referenceArgsort(bytes, dtype, { ...order, ...(bits && { bits }) });
      const result = await sortBytes(device, factory, bytes, {
        ...options,
        ...((own || options.tuning) && { tuning: { ...own, ...options.tuning } }),
      });
      const equal = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0;
      const what = JSON.stringify({ dtype, order, bits, n: positions.length, tuning: options.tuning });
      t.is(result.status, 0, what);
      t.true(equal(result.keys, pick(bytes, unit, positions)), `keys of ${what}`);
      if (indices) t.true(equal(result.values, positionBytes(positions, indices)), `positions of ${what}`);
      if (values)
        t.true(equal(result.values, pick(values.bytes, values.width, positions)), `values of ${what}`);
    }

    check('argsorts every dtype stably in both directions', async (t) => {
      for (const dtype of dtypesOn(small)) {
        const keys = keysOf(dtype, 'uniform', Math.min(most, 2003));
        await expectSorted(t, keys, { dtype, indices: 4 });
        await expectSorted(t, keys, { dtype, indices: 4, order: { descending: true, nan: 'first' } });
      }
    });

    check('sorts sizes at and next to multiples of its tile', async (t) => {
      const tile = 256;
      const sizes = [
        1,
        2,
        3,
        31,
        32,
        33,
        tile - 1,
        tile,
        tile + 1,
        3 * tile - 1,
        3 * tile,
        3 * tile + 1,
        most,
      ];
      for (const n of sizes.filter((size) => size <= most))
        await expectSorted(t, keysOf('u32', 'uniform', n), { dtype: 'u32', indices: 4 });
      const tuning = tuningFor(factory, device, { keyBits: 32, valueBytes: 4 });
      const full = Number(tuning.groupSize ?? 0) * Number(tuning.keysPerItem ?? 0);
      for (const n of [full - 1, full, full + 1]) {
        if (full > 0 && n <= most)
          await expectSorted(t, keysOf('u32', 'uniform', n), { dtype: 'u32', indices: 4 });
      }
    });

    check('sorts every distribution, and the largest keys before the padding', async (t) => {
      for (const distribution of DISTRIBUTIONS) {
        await expectSorted(t, keysOf('u32', distribution, Math.min(most, 1000)), {
          dtype: 'u32',
          indices: 4,
        });
      }
      const largest = Uint32Array.from({ length: Math.min(most, 1001) }, (_, i) => (i % 3 ? 0xffffffff : i));
      await expectSorted(t, largest, { dtype: 'u32', indices: 4 });
    });

    check('sorts on any bit window, in place and out of place', async (t) => {
      for (const dtype of ['u32', 'f64'] as const) {
        const keys = keysOf(dtype, 'uniform', Math.min(most, 700));
        const windows = [
          ...bitWindows(dtype),
          ...(dtype === 'f64' ? ([[29, 43]] as const) : ([[3, 14]] as const)),
        ];
        for (const bits of windows) {
          await expectSorted(t, keys, { dtype, bits, indices: 4 });
          await expectSorted(t, keys, { dtype, bits, indices: 4, inPlace: true });
        }
      }
    });

    for (const width of [1, 4, 8]) {
      check(`carries ${width}-byte values, in place and out of place`, async (t) => {
        const n = Math.min(most, 1500);
        const values = { bytes: bytesOf(keysOf('u8', 'uniform', n * width, 77n)), width };
        // Keys with few bits: many are equal, so that misplaced values are visible.
        const keys = (keysOf('u16', 'uniform', n) as Uint16Array).map((key) => key & 0xf00f);
        await expectSorted(t, keys, { dtype: 'u16', values });
        await expectSorted(t, keys, { dtype: 'u16', values, inPlace: true });
      });
    }

    check('writes 8-byte positions', async (t) => {
      await expectSorted(t, keysOf('i64', 'uniform', Math.min(most, 900)), { dtype: 'i64', indices: 8 });
    });

    check('sorts keys without values, in place and out of place', async (t) => {
      const keys = keysOf('f32', 'uniform', most);
      for (const inPlace of [false, true]) await expectSorted(t, keys, { dtype: 'f32', inPlace });
      await expectSorted(t, keysOf('u64', 'uniform', Math.min(most, 1500)), { dtype: 'u64' });
    });

    check('leaves an empty array unchanged', async (t) => {
      const result = await sortBytes(device, factory, new Uint8Array(0), { dtype: 'u32' });
      t.deepEqual(result, { keys: new Uint8Array(0), values: new Uint8Array(0), status: 0 });
    });

    check('reports unsupported value widths and sizes', async (t) => {
      t.regex(String(factory.available(device, { keyBits: 32, valueBytes: 3 })), /3 bytes/);
      const algorithm = await factory.create(device, { keyBits: 32, valueBytes: 0 });
      const ask = (n: number, valueBytes = 0) =>
        String(algorithm.supports({ dtype: 'u32', n, bits: [0, 32], valueBytes }));
      t.regex(ask(2 ** 32 + 7), /at most|fewer than|loops/);
      t.regex(ask(10, 4), /values of 0 bytes/);
    });

    if ('offsetBits' in factory.parameters) {
      const tuning = { offsetBits: 64 };
      check(
        'sorts with 64-bit offsets',
        (t) => expectSorted(t, keysOf('u32', 'uniform', most), { dtype: 'u32', indices: 4, tuning }),
        { ...PAIRS, tuning },
      );
    }
  }

  for (const radixBits of [1, 2, 3, 4, 8]) {
    test.serial(title(`tiled sorts by ${radixBits}-bit digits`), async (t) => {
      const keys = keysOf('i32', 'uniform', 1500);
      const result = await sortBytes(device, tiledRadix, bytesOf(keys), {
        dtype: 'i32',
        indices: 4,
        tuning: { radixBits },
      });
      const positions = referenceArgsort(bytesOf(keys), 'i32');
      t.deepEqual(result.values, positionBytes(positions, 4));
      t.deepEqual(result.keys, pick(bytesOf(keys), 4, positions));
    });
  }

  for (const subGroupSize of [16, 32, 64]) {
    for (const factory of [tiledRadix, onesweep, singleWorkgroupRadix]) {
      const claim = `${factory.name} ranks by ballots in sub-groups of ${subGroupSize}, or throws if there are none`;
      // On most devices a group of this size is one sub-group.
      const tuning = { rank: 'khr', subGroupSize, groupSize: subGroupSize, keysPerItem: 4 };
      const able = device.capabilities.votes.has('khr')
        ? factory.available(device, { ...PAIRS, tuning })
        : 'the device has no ballots';
      testIf(able, title(claim), async (t) => {
        const keys = keysOf('i32', 'uniform', factory === singleWorkgroupRadix ? 4 * subGroupSize - 3 : 1500);
        const positions = referenceArgsort(bytesOf(keys), 'i32');
        try {
          const sorted = await sortBytes(device, factory, bytesOf(keys), {
            dtype: 'i32',
            indices: 4,
            tuning,
          });
          t.deepEqual(sorted.values, positionBytes(positions, 4));
        } catch (error) {
          t.true(error instanceof UnsupportedError, String(error));
          t.regex(String(error), /sub-groups/);
          t.log(String(error));
        }
      });
    }
  }

  test.serial(title('serial sorts by 11-bit digits'), async (t) => {
    for (const dtype of ['f32', 'u64'] as const) {
      const keys = bytesOf(keysOf(dtype, 'uniform', 9001));
      const result = await sortBytes(device, serialRadix, keys, {
        dtype,
        indices: 4,
        tuning: { radixBits: 11 },
      });
      t.deepEqual(result.values, positionBytes(referenceArgsort(keys, dtype), 4));
    }
  });

  for (const factory of [onesweep, persistentRadix]) {
    const name = factory.name;
    const lanes = { checkedLanes: 'always', groupSize: 64 };
    const able = (shape: AlgorithmShape) => factory.available(device, shape);
    testIf(able(KEYS), title(`${name} by lanes sorts correctly or reports lanes out of order`), async (t) => {
      const n = name === 'onesweep' ? 2501 : 200;
      for (const dtype of ['u8', 'f32', 'u64'] as const) {
        for (const distribution of ['uniform', 'two', 'sorted', 'constant', 'high-byte', 'runs'] as const) {
          for (const keysPerItem of [1, 5]) {
            if (factory === persistentRadix && keysPerItem * 64 < n) continue;
            const keys = bytesOf(keysOf(dtype, distribution, n));
            const tuning = { ...lanes, keysPerItem };
            const { keys: sorted, status } = await sortBytes(device, factory, keys, { dtype, tuning });
            const what = JSON.stringify({ dtype, distribution, keysPerItem, status });
            t.true([0, 2].includes(status), what);
            const right = pick(keys, dtypeInfo(dtype).bytes, referenceArgsort(keys, dtype));
            if (status === 0) t.deepEqual(sorted, right, what);
            // Each work-item adds all its keys before the next one starts: five keys per work-item break the order.
            if (/Portable/.test(device.info.platform) && distribution === 'uniform' && dtype === 'f32')
              t.is(status, keysPerItem === 1 ? 0 : 2, what);
          }
        }
      }
    });

    testIf(
      able(PAIRS),
      title(`${name} does not use lanes for bit windows or keys with values`),
      async (t) => {
        const keys = bytesOf(keysOf('f32', 'two', 300));
        const tuning = { ...lanes, keysPerItem: 5 };
        const bits = [8, 24] as const;
        const window = await sortBytes(device, factory, keys, { dtype: 'f32', bits, tuning });
        t.deepEqual(window.keys, pick(keys, 4, referenceArgsort(keys, 'f32', { bits })));
        const argsort = await sortBytes(device, factory, keys, { dtype: 'f32', indices: 4, tuning });
        t.deepEqual(argsort.values, positionBytes(referenceArgsort(keys, 'f32'), 4));
      },
    );
  }

  for (const factory of [onesweep, persistentRadix, tiledRadix]) {
    testIf(
      factory.available(device, PAIRS),
      title(`${factory.name} moves values of any width through the local memory of the keys`),
      async (t) => {
        for (const dtype of ['u16', 'u32', 'u64'] as const) {
          for (const width of [1, 2, 4, 8]) {
            const n = factory === persistentRadix ? 300 : 2501;
            const keys = bytesOf(keysOf(dtype, 'two', n));
            const values = { bytes: bytesOf(keysOf('u8', 'uniform', n * width)), width };
            const tuning = { valuesAfter: true, groupSize: 64, keysPerItem: 5 };
            const result = await sortBytes(device, factory, keys, { dtype, values, tuning });
            const positions = referenceArgsort(keys, dtype);
            const what = JSON.stringify({ dtype, width });
            t.deepEqual(result.keys, pick(keys, dtypeInfo(dtype).bytes, positions), what);
            t.deepEqual(result.values, pick(values.bytes, width, positions), what);
          }
        }
      },
    );
  }

  const onesweeps = onesweep.available(device, KEYS);
  testIf(onesweeps, title('onesweep with a spin limit of 1 sorts'), async (t) => {
    const keys = keysOf('u32', 'uniform', 200_003) as Uint32Array;
    for (let round = 0; round < 3; round++) {
      const result = await sortBytes(device, onesweep, bytesOf(keys), { tuning: { spinLimit: 1 } });
      t.is(result.status, 0);
      t.deepEqual(result.keys, bytesOf(keys.toSorted()));
    }
  });
});
