/** Invalid arguments: every operation rejects with an error that names what was expected. */

import test from 'ava';
import { Sorter } from '../../../src/sort/api/sorter.js';
import type { PrimitiveOptions, SortOptions } from '../../../src/sort/model/options.js';
import type { OperationMethods } from '../../../src/sort/operations/operations.js';
import { AbortedError, ClsortError, InputError, UsageError } from '../../../src/util/errors.js';
import { forEachFakeSorter } from '../fake-backend.js';

const KEYS = Float32Array.of(3, 1, 2, 1);
const WORDS = Uint32Array.of(0, 1, 2, 3);
const OFFSETS = [0, 2, 4];
const NONE = new Float32Array(0);

type Operation = (sorter: Sorter, keys: never, options?: never) => Promise<unknown>;

const OPERATIONS: Readonly<Record<keyof OperationMethods | 'gather of columns' | 'upload', Operation>> = {
  sort: (sorter, keys, options) => sorter.sort(keys, options),
  sortInPlace: (sorter, keys, options) => sorter.sortInPlace(keys, options),
  argsort: (sorter, keys, options) => sorter.argsort(keys, options),
  sortPairs: (sorter, keys, options) => sorter.sortPairs(keys, WORDS, options),
  topK: (sorter, keys, options) => sorter.topK(keys, 2, options),
  nth: (sorter, keys, options) => sorter.nth(keys, 0, options),
  quantile: (sorter, keys, options) => sorter.quantile(keys, 0.5, options),
  median: (sorter, keys, options) => sorter.median(keys, options),
  argpartition: (sorter, keys, options) => sorter.argpartition(keys, 0, options),
  segmentedSort: (sorter, keys, options) => sorter.segmentedSort(keys, OFFSETS, options),
  segmentedArgsort: (sorter, keys, options) => sorter.segmentedArgsort(keys, OFFSETS, options),
  segmentedSortPairs: (sorter, keys, options) => sorter.segmentedSortPairs(keys, WORDS, OFFSETS, options),
  topKSegments: (sorter, keys, options) => sorter.topKSegments(keys, OFFSETS, 1, options),
  sortMany: (sorter, keys, options) => sorter.sortMany([keys], options),
  argsortMany: (sorter, keys, options) => sorter.argsortMany([keys], options),
  lexsort: (sorter, keys, options) => sorter.lexsort([keys], options),
  unique: (sorter, keys, options) => sorter.unique(keys, options),
  isIn: (sorter, keys, options) => sorter.isIn(KEYS, keys, options),
  intersect: (sorter, keys, options) => sorter.intersect(KEYS, keys, options),
  union: (sorter, keys, options) => sorter.union(KEYS, keys, options),
  difference: (sorter, keys, options) => sorter.difference(KEYS, keys, options),
  setXor: (sorter, keys, options) => sorter.setXor(KEYS, keys, options),
  join: (sorter, keys, options) => sorter.join(KEYS, keys, options),
  filter: (sorter, keys, options) => sorter.filter(keys, { above: 1 }, options),
  partition: (sorter, keys, options) => sorter.partition(keys, { above: 1 }, options),
  searchSorted: (sorter, keys, options) => sorter.searchSorted(KEYS, keys, options),
  merge: (sorter, keys, options) => sorter.merge(KEYS, keys, options),
  mergeMany: (sorter, keys, options) => sorter.mergeMany([KEYS, keys], options),
  reduceByKey: (sorter, keys, options) => sorter.reduceByKey(keys, WORDS as never, 'sum', options),
  reduce: (sorter, keys, options) => sorter.reduce(keys, 'sum', options),
  scan: (sorter, keys, options) => sorter.scan(keys, options),
  histogram: (sorter, keys, options) => sorter.histogram(keys, options),
  gather: (sorter, keys, options) => sorter.gather(keys, WORDS as never, options),
  'gather of columns': (sorter, keys, options) => sorter.gather([keys], WORDS, options),
  upload: (sorter, keys, options) => sorter.upload(keys, options),
};

/** Operations that write into an array of the caller. */
const INTO = ['sort', 'argsort', 'sortPairs', 'segmentedSort', 'segmentedArgsort', 'partition'].concat([
  'searchSorted',
  'merge',
  'mergeMany',
  'scan',
  'gather',
  'gather of columns',
]);

const circular: Record<string, unknown> = {};
circular.self = circular;

/** Calls on no keys, which have nothing to do. */
const OF_NOTHING: Readonly<Record<string, (sorter: Sorter, options?: PrimitiveOptions) => Promise<unknown>>> =
  {
    sort: (sorter, options) => sorter.sort(NONE, options),
    topK: (sorter, options) => sorter.topK(NONE, 2, options),
    unique: (sorter, options) => sorter.unique(NONE, options),
    isIn: (sorter, options) => sorter.isIn(NONE, NONE, options),
    union: (sorter, options) => sorter.union(NONE, NONE, options),
    join: (sorter, options) => sorter.join(NONE, NONE, options),
    lexsort: (sorter, options) => sorter.lexsort([NONE], options),
    filter: (sorter, options) => sorter.filter(NONE, { above: 1 }, options),
    partition: (sorter, options) => sorter.partition(NONE, { above: 1 }, options),
    merge: (sorter, options) => sorter.merge(NONE, NONE, options),
    mergeMany: (sorter, options) => sorter.mergeMany([NONE, NONE], options),
    reduceByKey: (sorter, options) => sorter.reduceByKey(NONE, NONE, 'sum', options),
    gather: (sorter, options) => sorter.gather([], new Uint32Array(0), options),
  };

test('calls on empty input reject after an abort or on a closed Sorter', async (t) => {
  const sorter = await Sorter.open({ device: 'host' });
  const { signal } = new AbortController();
  for (const make of Object.values(OF_NOTHING)) await t.notThrowsAsync(make(sorter, { signal }));
  for (const [name, make] of Object.entries(OF_NOTHING)) {
    const made = make(sorter, { signal: AbortSignal.abort() });
    await t.throwsAsync(made, { instanceOf: AbortedError }, name);
  }
  await sorter.close();
  for (const [name, make] of Object.entries(OF_NOTHING)) {
    await t.throwsAsync(make(sorter), { instanceOf: UsageError, message: /closed/ }, name);
  }
});

forEachFakeSorter((title, open) => {
  test.serial(
    title('options that are not an object, or have an unknown name, reject the promise'),
    async (t) => {
      const sorter = await open();
      for (const [name, operation] of Object.entries(OPERATIONS)) {
        for (const options of [
          null,
          0,
          5,
          true,
          'descending',
          5n,
          Symbol('options'),
          () => 1,
          [],
          { nosuch: circular },
        ]) {
          const made = operation(sorter, KEYS as never, options as never);
          await t.throwsAsync(made, { instanceOf: UsageError }, `${name}: ${String(options)}`);
        }
      }
    },
  );

  test.serial(title('invalid keys reject the promise'), async (t) => {
    const sorter = await open();
    for (const [name, operation] of Object.entries(OPERATIONS)) {
      for (const keys of [
        undefined,
        null,
        5,
        'abc',
        {},
        [3, 1, 2],
        Symbol('keys'),
        new DataView(KEYS.buffer),
      ]) {
        const made = operation(sorter, keys as never);
        await t.throwsAsync(made, { instanceOf: ClsortError }, `${name}: ${String(keys)}`);
      }
    }
  });

  test.serial(title('option values that cannot be serialised are named in the error'), async (t) => {
    const sorter = await open();
    for (const [options, message] of [
      [{ bitRange: [0n, 8n] }, /"0n"/],
      [{ bitRange: [Number.NaN, 8] }, /"NaN"/],
      [{ timeout: Number.NaN }, /NaN/],
      [{ descending: circular }, /cannot be shown/],
      [{ nan: Symbol('nan') }, /Symbol\(nan\)/],
      [{ advanced: { tuning: { chunk: 5n } } }, /"5n"/],
      [{ advanced: { tuning: { chunk: 0 } } }, /of at least 1/],
      [{ advanced: { tuning: { chunk: -1 } } }, /of at least 1/],
      [{ advanced: { tuning: { chunk: 2.5 } } }, /of at least 1/],
      [{ advanced: { tuning: { select: -1 } } }, /of at least 0/],
      [{ advanced: { tuning: { deviceCount: 0 } } }, /of at least 1/],
    ] as const) {
      const made = sorter.sort(KEYS, options as unknown as SortOptions);
      await t.throwsAsync(made, { instanceOf: UsageError, message });
    }
  });

  test.serial(title('a target for results that is not an array rejects the promise'), async (t) => {
    const sorter = await open();
    for (const name of INTO) {
      for (const into of [
        null,
        0,
        '',
        'x',
        {},
        [],
        () => 1,
        Promise.resolve(KEYS),
        new DataView(KEYS.buffer),
      ]) {
        const operation = OPERATIONS[name as keyof OperationMethods];
        const made = operation(sorter, KEYS as never, { into } as never);
        await t.throwsAsync(made, { instanceOf: InputError }, `${name}: ${String(into)}`);
      }
    }
  });

  test.serial(title('invalid numbers, names and lists reject the promise'), async (t) => {
    const sorter = await open();
    const device = await sorter.upload(KEYS);
    for (const wrong of [
      undefined,
      null,
      Number.NaN,
      -1,
      0.5,
      '3',
      3n,
      Symbol('wrong'),
      {},
      Object.create(null),
    ]) {
      const never = wrong as never;
      for (const make of [
        () => sorter.topK(KEYS, never),
        () => sorter.topKSegments(KEYS, OFFSETS, never),
        () => sorter.reduce(KEYS, never),
        () => sorter.reduceByKey(KEYS, WORDS, never),
        () => sorter.segmentedSort(KEYS, never),
        () => sorter.segmentedSort(KEYS, [0, never, 4]),
        () => sorter.lexsort(never),
        () => sorter.lexsort([never]),
        () => sorter.lexsort([{ keys: KEYS, verify: wrong } as never]),
        async () => sorter.plan(never),
        async () => sorter.createArray('f32', never),
        async () => sorter.createArray(never, 3),
        () => device.read(0, never ?? 5),
        () => device.read(never ?? 5),
        async () => sorter.freePinned(never),
      ]) {
        await t.throwsAsync(make(), { instanceOf: ClsortError }, String(make));
      }
    }
    device.dispose();
    t.deepEqual(await sorter.sort(KEYS), Float32Array.of(1, 1, 2, 3), 'the Sorter is as usable as before');
  });
});
