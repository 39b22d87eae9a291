import test from 'ava';
import fc from 'fast-check';
import { keyColumn } from '../../../src/keys/array.js';
import { DTYPES } from '../../../src/keys/dtype.js';
import { chunkLimit } from '../../../src/sort/backend/planner.js';
import { cutRuns, sortAndMerge, widePositions } from '../../../src/sort/calls/sort-in-chunks.js';
import { hostSort } from '../../../src/sort/host/host-sort.js';
import { nativeSort } from '../../../src/sort/host/native-sort.js';
import { column, hostColumn } from '../../../src/sort/model/column.js';
import { parseSortOptions } from '../../../src/sort/model/parse-options.js';
import type { SortReport } from '../../../src/sort/model/report.js';
import { bitWindows, keysOf, SEED } from '../../distributions.js';
import { pick, referenceArgsort } from '../../reference.js';
import { forEachFakeSorter } from '../fake-backend.js';

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
const same = (a: ArrayBufferView, b: ArrayBufferView) => Buffer.compare(bytesOf(a), bytesOf(b)) === 0;

forEachFakeSorter((title, open) => {
  for (const dtype of DTYPES) {
    test.serial(title(`${dtype} in chunks gives keys, values and positions of a whole sort`), async (t) => {
      const sorter = await open();
      const n = 65;
      const keys = keysOf(dtype, 'special', n);
      const values = keysOf('u8', 'uniform', n * 3);
      for (const order of [{}, { descending: true, nan: 'first' }] as const) {
        const positions = referenceArgsort(bytesOf(keys), dtype, order);
        for (const chunk of [1, 16, 25, 64, 65]) {
          if (chunk === 1 && dtype !== 'u8') continue; // a sort for each key takes time
          const options = { dtype, ...order, advanced: { tuning: { chunk } } };
          t.deepEqual([...(await sorter.argsort(keys, options))], positions, `${chunk}, seed ${SEED}`);
          const sorted = await sorter.sort(keys, { ...options, verify: true });
          t.true(same(sorted, pick(bytesOf(keys), keys.BYTES_PER_ELEMENT, positions)));
          const pairs = await sorter.sortPairs(keys, values, options);
          t.true(same(pairs.values, pick(bytesOf(values), 3, positions)));
        }
      }
    });
  }

  test.serial(title('bit windows are sorted stably across chunks'), async (t) => {
    const sorter = await open();
    const keys = keysOf('i16', 'uniform', 200);
    for (const bits of bitWindows('i16')) {
      const positions = referenceArgsort(bytesOf(keys), 'i16', { bits });
      t.deepEqual(
        [...(await sorter.argsort(keys, { bitRange: bits, advanced: { tuning: { chunk: 37 } } }))],
        positions,
        String(bits),
      );
    }
  });

  test.serial(title('report and plan name the chunks, and progress ends with all keys'), async (t) => {
    const sorter = await open();
    const reports: SortReport[] = [];
    const done: number[] = [];
    await sorter.sort(keysOf('u32', 'uniform', 1000), {
      advanced: { tuning: { chunk: 300 } },
      verify: true,
      onReport: (report) => reports.push(report),
      onProgress: (progress) => done.push(progress.done),
    });
    t.is(reports.length, 1);
    t.is(reports[0]?.chunks, 4);
    t.deepEqual(reports[0]?.verified, { order: true, permutation: true });
    t.deepEqual(
      done,
      done.toSorted((a, b) => a - b),
    );
    t.is(done.at(-1), 1000);
    const plan = sorter.plan(1000, { advanced: { tuning: { chunk: 300 } } });
    if (plan.engine === 'device') t.regex(plan.explain(), /4 of at most 300 keys/);
  });
});

test('runs are cut by rank, with equal keys from earlier runs first', (t) => {
  const order = {
    limit: 256n,
    countBelow: (run: ArrayLike<number | bigint>, digit: bigint) =>
      Array.from(run).filter((key) => BigInt(key) < digit).length,
  };
  const sortedRun = fc.uint8Array({ max: 9, maxLength: 30 }).map((keys) => keys.sort());
  fc.assert(
    fc.property(fc.array(sortedRun, { minLength: 1, maxLength: 5 }), fc.nat(150), (runs, wanted) => {
      const tagged = runs.flatMap((run, r) => Array.from(run, (key) => ({ key, r })));
      const rank = Math.min(wanted, tagged.length);
      const first = tagged.toSorted((a, b) => a.key - b.key).slice(0, rank);
      const expected = runs.map((_, r) => first.filter((one) => one.r === r).length);
      t.deepEqual(cutRuns(runs, rank, order), expected);
    }),
    { seed: Number(SEED) },
  );
});

test('a chunk fits the largest allocation and the device memory', (t) => {
  const limit = (maxAllocation: number, globalBytes: number, zeroCopy: boolean, valueBytes: number) =>
    chunkLimit({ maxAllocation, globalBytes, quirks: { zeroCopy } } as never, { dtype: 'u32', valueBytes });
  t.is(limit(4000, 1e9, false, 0), 1000);
  t.is(limit(4000, 1e9, false, 16), 250);
  t.is(limit(1e9, 12_000, false, 0), 900);
  t.is(limit(1e9, 12_000, true, 4), 1350);
  t.true(limit(2 ** 40, 2 ** 42, false, 0) > 2 ** 32);
});

test('positions of 8 bytes are the same in chunks, in JavaScript and in the addon', async (t) => {
  const n = 1000;
  for (const distribution of ['two', 'random-bits'] as const) {
    const keys = keysOf('f64', distribution, n);
    const narrow = new Uint32Array(n);
    hostSort(keyColumn(keys), {}, { moved: narrow });
    const expected = BigUint64Array.from(narrow, BigInt);

    const [inJavaScript, inAddon, inChunks] = [0, 1, 2].map(() => new BigUint64Array(n).fill(~0n)) as [
      BigUint64Array,
      BigUint64Array,
      BigUint64Array,
    ];
    hostSort(keyColumn(keys), {}, { moved: inJavaScript });
    t.deepEqual(inJavaScript, expected);
    await nativeSort(keyColumn(keys), {}, { moved: inAddon }, {});
    t.deepEqual(inAddon, expected);
    const job = { keys: column('f64', n, keys), settings: parseSortOptions({}), moved: inChunks };
    await sortAndMerge({ ...job, widePositions: true }, 300, async (part) =>
      hostSort(hostColumn(part.keys), {}, part),
    );
    t.deepEqual(inChunks, expected);
  }
});

test('wide positions count from 0', (t) => {
  t.deepEqual(widePositions(3), BigUint64Array.of(0n, 1n, 2n));
});
