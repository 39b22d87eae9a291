/** The functions of the package behave like the methods of a Sorter. */
import test from 'ava';
import * as clsort from '../../../src/index.js';
import type { OperationMethods } from '../../../src/sort/operations/operations.js';

const keys = Uint32Array.of(5, 1, 4, 1, 3, 9, 2, 6);
const others = Uint32Array.of(7, 7, 0, 1, 0, 0, 2, 2);
const [ordered, runs] = [keys.toSorted(), others.toSorted()];
const offsets = Uint32Array.of(0, 3, 3, 8);

/** Arguments, by the name of the function. */
const ARGUMENTS: Readonly<Record<keyof OperationMethods, readonly unknown[]>> = {
  sort: [keys, { descending: true }],
  argsort: [keys],
  sortPairs: [keys, others],
  sortInPlace: [keys],
  lexsort: [[others, keys]],
  topK: [keys, 3],
  nth: [keys, 3],
  quantile: [keys, [0.1, 0.5]],
  median: [keys],
  argpartition: [keys, 3],
  segmentedSort: [keys, offsets],
  segmentedArgsort: [keys, offsets, { positions: 'segment' }],
  segmentedSortPairs: [keys, others, offsets],
  topKSegments: [keys, offsets, 2],
  sortMany: [[keys, others]],
  argsortMany: [[keys, others]],
  unique: [others],
  isIn: [keys, others],
  intersect: [keys, others],
  union: [keys, others],
  difference: [keys, others],
  setXor: [keys, others],
  join: [keys, others],
  reduce: [keys, 'sum'],
  scan: [keys],
  histogram: [keys, { bins: 4, range: [0, 10] }],
  gather: [keys, Uint32Array.of(7, 0, 0)],
  filter: [keys, { below: 4 }],
  partition: [keys, { below: 4 }],
  searchSorted: [ordered, others],
  merge: [ordered, runs],
  mergeMany: [[ordered, runs]],
  reduceByKey: [runs, keys, 'sum'],
};

test.after.always(() => clsort.closeAll());

for (const [name, args] of Object.entries(ARGUMENTS)) {
  test(`${name} gives the same result as the method of a Sorter`, async (t) => {
    await using host = await clsort.Sorter.open({ device: 'host' });
    const made = (on: object): Promise<unknown> => {
      const call = Reflect.get(on, name) as (...args: unknown[]) => Promise<unknown>;
      return call.apply(on, structuredClone(args) as unknown[]); // some are sorted in place
    };
    t.deepEqual(await made(clsort), await made(host));
  });
}
