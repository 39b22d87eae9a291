import test from 'ava';
import { FileSortBatcher } from '../../../src/io/file-sort/file-sort-batcher.js';
import { generate } from '../../../src/io/operations/gen.js';
import { bytesOf, keyColumn, newArray } from '../../../src/keys/array.js';
import { DTYPES, type Dtype, type KeyArray } from '../../../src/keys/dtype.js';
import type { Sorter } from '../../../src/sort/api/sorter.js';
import type { SortReport } from '../../../src/sort/model/report.js';
import { forEachSorter } from '../../each-sorter.js';
import { referenceSort } from '../../reference.js';

function keysOf(dtype: Dtype, count: number, seed: number): KeyArray {
  const keys = newArray(dtype, count);
  bytesOf(keys).set(generate({ dtype, count, distribution: 'uniform', seed }));
  return keys;
}

forEachSorter((title, open, small) => {
  test(
    title('concurrent small sorts return separate results, in one sort per dtype and direction'),
    async (t) => {
      const sorter = await open();
      let [alone, gathered] = [0, 0];
      const batcher = new FileSortBatcher({
        sort: (...args: Parameters<Sorter['sort']>) => {
          alone++;
          return sorter.sort(...args);
        },
        sortMany: (...args: Parameters<Sorter['sortMany']>) => {
          gathered++;
          return sorter.sortMany(...args);
        },
      } as Pick<Sorter, 'sort' | 'sortMany'>);
      const length = small ? 40 : 700;
      const jobs = DTYPES.flatMap((dtype, d) =>
        [false, true].flatMap((descending) =>
          [1, 2, length, length - 3, 17].map((count, i) => ({
            dtype,
            descending,
            keys: keysOf(dtype, count, 7 * d + i),
          })),
        ),
      );
      const reports: SortReport[] = [];
      const sorted = await Promise.all(
        jobs.map(({ dtype, descending, keys }) => {
          t.true(batcher.accepts(keys, {}));
          const onReport = (report: SortReport) => void reports.push(report);
          return batcher.sort(keys, { dtype, descending, nan: 'first', onReport });
        }),
      );
      for (const [i, { dtype, descending, keys }] of jobs.entries()) {
        const expected = referenceSort(bytesOf(keys), dtype, { descending, nan: 'first' });
        const made = sorted[i] as KeyArray;
        t.deepEqual(Buffer.from(bytesOf(made)), Buffer.from(expected), `${dtype} ${descending}`);
        t.is(keyColumn(made, dtype).n, keys.length);
      }
      t.is(alone, 0);
      t.is(gathered, 2 * DTYPES.length);
      t.is(reports.length, jobs.length);
      t.is(
        reports.reduce((sum, { n }) => sum + n, 0),
        jobs.reduce((sum, { keys }) => sum + keys.length, 0),
      );
    },
  );

  test(title('a sort without concurrent ones runs alone'), async (t) => {
    const batcher = new FileSortBatcher(await open());
    const keys = keysOf('u32', 30, 3);
    const reports: SortReport[] = [];
    const sorted = await batcher.sort(keys, {
      dtype: 'u32',
      onReport: (report) => void reports.push(report),
    });
    t.deepEqual(sorted, keys.slice().sort());
    t.is(reports[0]?.n, 30);
  });
});

test('a failed batch falls back to single sorts, and only a sort that fails again rejects', async (t) => {
  const batcher = new FileSortBatcher({
    sortMany: () => Promise.reject(new Error('all')),
    sort: async (keys: KeyArray) => {
      if (keys.length === 2) throw new Error('one');
      return keys.slice().sort();
    },
  } as unknown as Pick<Sorter, 'sort' | 'sortMany'>);
  const ran = await Promise.allSettled(
    [3, 2, 1].map((count) => batcher.sort(keysOf('u32', count, count), { dtype: 'u32' })),
  );
  t.deepEqual(
    ran.map((one) => (one.status === 'rejected' ? one.reason.message : one.value.length)),
    [3, 'one', 1],
  );
});

test('sorts with special options and large or empty arrays are not batched', (t) => {
  const batcher = new FileSortBatcher({} as Sorter);
  const keys = new Uint32Array(10);
  t.true(batcher.accepts(keys, { descending: true, nan: 'first', bitRange: [0, 8], algorithm: 'auto' }));
  for (const options of [
    { verify: true },
    { algorithm: 'tiled' },
    { advanced: { scan: 3 } },
    { advanced: { radixBits: 4 } },
  ] as const) {
    t.false(batcher.accepts(keys, options));
  }
  t.false(batcher.accepts(new Uint32Array(0), {}));
  t.false(batcher.accepts(new Uint32Array(2 ** 20), {}));
});
