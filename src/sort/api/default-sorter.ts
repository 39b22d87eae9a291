import type { ArrayOf, ValueArray } from '../../keys/array.js';
import type { Dtype, KeyArray } from '../../keys/dtype.js';
import type { ReduceOp } from '../../primitives/possible.js';
import { formatValue } from '../../util/format-value.js';
import type { Predicate } from '../operations/predicate.js';
import type { Offsets } from '../operations/segmented-sort.js';
import type {
  CheckedOptions,
  HistogramOptions,
  Into,
  LexsortColumn,
  LexsortOptions,
  OpenOptions,
  PrimitiveOptions,
  ScanOptions,
  SortOptions,
  TopKOptions,
  UniqueOptions,
} from './options.js';
import { assertOneOfDevices, requireOptionsObject } from './options.js';
import type { SegmentedArgsortOptions, TopKSegmentsOptions } from './segment-operations.js';
import type { MergeOptions, SearchSortedOptions } from './select-operations.js';
import { Sorter } from './sorter.js';

/** One lazily opened Sorter for each device, or list of devices, that was asked for. */
const sorters = new Map<string, Promise<Sorter>>();

/** Opens the Sorter of a device, or finds it open. A failure is not kept. */
export function sorterFor({ device = 'auto', devices, onWarning }: OpenOptions = {}): Promise<Sorter> {
  const name = formatValue(devices ?? device);
  let sorter = sorters.get(name);
  if (!sorter) {
    sorter = Sorter.open({ ...(devices ? { devices } : { device }), ...(onWarning && { onWarning }) });
    sorter.catch(() => sorters.delete(name));
    sorters.set(name, sorter);
  }
  return sorter;
}

/** A function that checks nothing and opens only what it needs: the Sorter does the rest. */
export async function withSorter<T, O extends OpenOptions>(
  options: O | undefined,
  use: (sorter: Sorter, options: O) => Promise<T>,
): Promise<T> {
  const all = requireOptionsObject(options);
  const { device: _, devices: __, ...rest } = all;
  assertOneOfDevices(all);
  return use(await sorterFor(options), rest as O);
}

/**
 * Sorts `keys` into a new array of the same type, on the best device there is (option `device`), or
 * on several that share it (option `devices`).
 *
 *     const sorted = await sort(Float32Array.of(3, 1, 2), { descending: true });
 *
 * Stable. Numbers in order, −0 before +0, NaN last (option `nan`); bit patterns survive.
 *
 * @throws UsageError, DtypeError, InputError for wrong arguments; NoLoaderError, NoPlatformError,
 *   NoDeviceError when a device was asked for and is not there; MemoryError, DeviceLostError,
 *   MismatchError, AbortedError while sorting
 */
export function sort<K extends KeyArray>(keys: K, options?: SortOptions & Into<K>): Promise<K> {
  return withSorter(options, (sorter, rest) => sorter.sort(keys, rest));
}

/**
 * The positions of `keys` in sorted order, as 32-bit numbers: `keys[result[0]]` comes first.
 *
 *     const order = await argsort(prices);
 *     const names = Array.from(order, (i) => products[i]); // cheapest first
 *
 * @throws as `sort`
 */
export function argsort(keys: KeyArray, options?: SortOptions & Into<Uint32Array>): Promise<Uint32Array> {
  return withSorter(options, (sorter, rest) => sorter.argsort(keys, rest));
}

/**
 * Sorts `keys` and moves `values` (1 to 16 bytes for each key, any typed array) along with them.
 *
 *     const { keys, values } = await sortPairs(temperatures, Uint32Array.from(ids));
 *
 * @throws as `sort`; InputError when the lengths do not fit or the arrays overlap
 */
export function sortPairs<K extends KeyArray, V extends ValueArray>(
  keys: K,
  values: V,
  options?: SortOptions & Into<{ keys: K; values: V }>,
): Promise<{ keys: K; values: V }> {
  return withSorter(options, (sorter, rest) => sorter.sortPairs(keys, values, rest));
}

/**
 * Sorts the memory of `keys` itself; after a failure the keys are as they were.
 *
 * @returns `keys`
 * @throws as `sort`
 */
export function sortInPlace<K extends KeyArray>(keys: K, options?: SortOptions): Promise<K> {
  return withSorter(options, (sorter, rest) => sorter.sortInPlace(keys, rest));
}

/**
 * The order of rows given by columns, the most significant first: `result[0]` is the position of the first
 * row. Stable; all NaNs are equal, and −0 equals +0.
 *
 *     await lexsort([year, { keys: price, descending: true }]);
 *
 * @throws as `sort`; InputError when the columns differ in length
 */
export function lexsort(
  columns: readonly (KeyArray | LexsortColumn<KeyArray>)[],
  options?: LexsortOptions,
): Promise<Uint32Array> {
  return withSorter(options, (sorter, rest) => sorter.lexsort(columns, rest));
}

/**
 * The `k` largest keys (smallest with `largest: false`) in order, and where they are: what `sort` and
 * `argsort` would begin with.
 *
 *     const { keys, indices } = await topK(scores, 100);
 *
 * @throws as `sort`; UsageError when k is no whole number
 */
export async function topK<K extends KeyArray>(
  keys: K,
  k: number,
  options?: TopKOptions,
): Promise<{ keys: K; indices: Uint32Array }> {
  return withSorter(options, (sorter, rest: TopKOptions) => sorter.topK<KeyArray>(keys, k, rest)) as Promise<{
    keys: K;
    indices: Uint32Array;
  }>;
}

/**
 * Sorts each segment of `keys` by itself: segment s is `[offsets[s], offsets[s + 1])`.
 *
 *     await segmentedSort(Float32Array.of(3, 1, 2, 9, 7), [0, 3, 3, 5]); // 1, 2, 3, 7, 9
 *
 * @param offsets where each segment begins, from 0 on and never falling, and at last the number of keys
 * @throws as `sort`; InputError for wrong offsets
 */
export function segmentedSort<K extends KeyArray>(
  keys: K,
  offsets: Offsets,
  options?: SortOptions & Into<K>,
): Promise<K> {
  return withSorter(options, (sorter, rest) => sorter.segmentedSort(keys, offsets, rest));
}

/**
 * The positions of `keys` in the order of `segmentedSort`, counted from the beginning of the array, or with
 * `positions: 'segment'` from that of each segment.
 *
 * @throws as `segmentedSort`
 */
export function segmentedArgsort(
  keys: KeyArray,
  offsets: Offsets,
  options?: SegmentedArgsortOptions & Into<Uint32Array>,
): Promise<Uint32Array> {
  return withSorter(options, (sorter, rest) => sorter.segmentedArgsort(keys, offsets, rest));
}

/**
 * Sorts each segment of `keys` by itself and moves `values` along with them, as `sortPairs` does.
 *
 * @throws as `segmentedSort`; InputError when the lengths do not fit or the arrays overlap
 */
export function segmentedSortPairs<K extends KeyArray, V extends ValueArray>(
  keys: K,
  values: V,
  offsets: Offsets,
  options?: SortOptions,
): Promise<{ keys: K; values: V }> {
  return withSorter(options, (sorter, rest) => sorter.segmentedSortPairs(keys, values, offsets, rest));
}

/**
 * Sorts many arrays of one dtype, each by itself and all in one go: for small ones a call for each takes longer than
 * sorting them.
 *
 *     const [a, b] = await sortMany([Float32Array.of(3, 1, 2), Float32Array.of(9, 7)]);
 *
 * @returns sorted arrays, in the order given: views of one new buffer
 * @throws as `sort`; DtypeError when the arrays are of more than one dtype
 */
export function sortMany<K extends KeyArray>(arrays: readonly K[], options?: SortOptions): Promise<K[]> {
  return withSorter(options, (sorter, rest) => sorter.sortMany(arrays, rest));
}

/**
 * What `argsort` gives for each of many arrays, made in one go: positions are counted in each array by itself.
 *
 * @returns as many arrays, in the order given: views of one new buffer
 * @throws as `sortMany`
 */
export function argsortMany(arrays: readonly KeyArray[], options?: SortOptions): Promise<Uint32Array[]> {
  return withSorter(options, (sorter, rest) => sorter.argsortMany(arrays, rest));
}

/**
 * The distinct keys in order, and how often each is there; all NaNs are one key, and so are the zeros.
 *
 * @throws as `sort`
 */
export async function unique<K extends KeyArray>(
  keys: K,
  options?: UniqueOptions,
): Promise<{ keys: K; counts: Uint32Array }> {
  return withSorter(options, (sorter, rest) => sorter.unique<KeyArray>(keys, rest)) as Promise<{
    keys: K;
    counts: Uint32Array;
  }>;
}

/**
 * The sum (of integers a BigInt of 64 bits, which wraps), minimum or maximum of `keys`. NaN wins a minimum
 * and a maximum; −0 is below +0.
 *
 * @throws as `sort`; InputError for the minimum or maximum of no keys; UnsupportedError for sums of f16
 */
export function reduce(keys: KeyArray, op: ReduceOp, options?: PrimitiveOptions): Promise<number | bigint> {
  return withSorter(options, (sorter, rest) => sorter.reduce(keys, op, rest));
}

/**
 * Prefix sums of `keys`, in their own type or in `resultDtype`, modulo which integers wrap: of the keys before each, with `inclusive` up to each. With `op` minima, maxima
 * or products instead.
 *
 * @throws as `sort`; UnsupportedError for sums and products of f16
 */
export function scan<D extends Dtype>(
  keys: KeyArray,
  options: ScanOptions & Into<ArrayOf<D>> & { readonly resultDtype: D },
): Promise<ArrayOf<D>>;
export function scan<K extends KeyArray>(keys: K, options?: ScanOptions & Into<K>): Promise<K>;
export function scan<K extends KeyArray>(keys: K, options?: ScanOptions & Into<K>): Promise<K> {
  return withSorter(options, (sorter, rest) => sorter.scan(keys, rest));
}

/**
 * How many keys are in each bin: `bins` of equal width over `range`, or between `edges`. A bin has its
 * lower edge, the last one its upper edge too; NaN is in none. Or of digits: `bits` of the keys' codes.
 *
 *     await histogram(ages, { bins: 10, range: [0, 100] });
 *
 * @throws as `sort`; UsageError when the options do not make bins
 */
export function histogram(keys: KeyArray, options: HistogramOptions): Promise<Uint32Array> {
  return withSorter(options, (sorter, rest) => sorter.histogram(keys, rest));
}

/**
 * The elements of `values` at `indices`, such as an `argsort` gives: `result[i]` is `values[indices[i]]`. Of a list of columns
 * a list comes back.
 *
 *     const [ids, amounts] = await gather([allIds, allAmounts], await argsort(dates));
 *
 * @throws as `sort`; InputError when an index is not inside, and when columns have different numbers of elements
 */
export function gather<V extends KeyArray>(
  values: V,
  indices: Uint32Array,
  options?: PrimitiveOptions & Into<V>,
): Promise<V>;
export function gather<V extends readonly KeyArray[] | readonly []>(
  values: V,
  indices: Uint32Array,
  options?: PrimitiveOptions & Into<V>,
): Promise<V>;
export function gather(
  values: KeyArray | readonly KeyArray[],
  indices: Uint32Array,
  options?: PrimitiveOptions & Into<KeyArray | readonly KeyArray[]>,
): Promise<KeyArray | readonly KeyArray[]> {
  return withSorter(
    options,
    (sorter, rest): Promise<KeyArray | readonly KeyArray[]> =>
      Array.isArray(values)
        ? sorter.gather(values as readonly KeyArray[], indices, rest as Into<readonly KeyArray[]>)
        : sorter.gather(values as KeyArray, indices, rest as Into<KeyArray>),
  );
}

/**
 * The keys that a predicate, or a mask of one byte for each, chooses, in input order.
 *
 *     await filter(prices, { from: 10, below: 20 });
 *
 * @throws as `sort`; InputError when the mask does not fit
 */
export function filter<K extends KeyArray>(
  keys: K,
  by: Uint8Array | Predicate,
  options?: CheckedOptions,
): Promise<K> {
  return withSorter(options, (sorter, rest) => sorter.filter<KeyArray>(keys, by, rest)) as Promise<K>;
}

/**
 * The keys that are chosen, as `filter` says, and behind them the others; both in input order.
 *
 * @returns all keys, of which the first `count` are those that are chosen
 * @throws as `filter`
 */
export function partition<K extends KeyArray>(
  keys: K,
  by: Uint8Array | Predicate,
  options?: CheckedOptions & Into<K>,
): Promise<{ keys: K; count: number }> {
  return withSorter(options, (sorter, rest) => sorter.partition<KeyArray>(keys, by, rest)) as Promise<{
    keys: K;
    count: number;
  }>;
}

/**
 * How many of `sorted`, which is in the order of `sort`, come before each key: with `side: 'right'` those that are equal to
 * it, too.
 *
 * @throws as `sort`; InputError for two dtypes
 */
export function searchSorted<K extends KeyArray>(
  sorted: K,
  keys: K,
  options?: SearchSortedOptions & Into<Uint32Array>,
): Promise<Uint32Array> {
  return withSorter(options, (sorter, rest) => sorter.searchSorted<KeyArray>(sorted, keys, rest));
}

/**
 * One array in order out of two that are: of equal keys those of `a` come first.
 *
 * @throws as `searchSorted`
 */
export function merge<K extends KeyArray>(a: K, b: K, options?: MergeOptions & Into<K>): Promise<K> {
  return withSorter(options, (sorter, rest) => sorter.merge<KeyArray>(a, b, rest)) as Promise<K>;
}

/**
 * The distinct keys in order, and the sum (of integers in 64 bits), minimum or maximum of the values of each.
 *
 *     const { keys, values } = await reduceByKey(customers, amounts, 'sum');
 *
 * @throws as `unique`; InputError when the lengths differ; UnsupportedError for sums of f16
 */
export function reduceByKey<K extends KeyArray>(
  keys: K,
  values: KeyArray,
  op: ReduceOp,
  options?: UniqueOptions,
): Promise<{ keys: K; values: KeyArray }> {
  return withSorter(options, (sorter, rest) =>
    sorter.reduceByKey<KeyArray, KeyArray>(keys, values, op, rest),
  ) as Promise<{
    keys: K;
    values: KeyArray;
  }>;
}

/**
 * The `k` largest keys (smallest with `largest: false`) of each segment in order, where they are, and where those of each
 * segment begin.
 *
 * @throws as `segmentedSort`; UsageError when k is no whole number
 */
export function topKSegments<K extends KeyArray>(
  keys: K,
  offsets: Offsets,
  k: number,
  options?: TopKSegmentsOptions,
): Promise<{ keys: K; indices: Uint32Array; offsets: Uint32Array }> {
  return withSorter(options, (sorter, rest) =>
    sorter.topKSegments<KeyArray>(keys, offsets, k, rest),
  ) as Promise<{
    keys: K;
    indices: Uint32Array;
    offsets: Uint32Array;
  }>;
}

/** Closes the Sorters that the functions of this module opened. Not needed before a program ends. */
export async function close(): Promise<void> {
  const open = [...sorters.values()];
  sorters.clear();
  for (const sorter of await Promise.allSettled(open)) {
    if (sorter.status === 'fulfilled') await sorter.value.close();
  }
}
