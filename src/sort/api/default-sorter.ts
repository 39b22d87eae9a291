import type { ArrayOf, ValueArray } from '../../keys/array.js';
import type { Dtype, KeyArray } from '../../keys/dtype.js';
import type { ReduceOp } from '../../primitives/possible.js';
import { formatValue } from '../../util/format-value.js';
import { renamedError } from '../../util/renamed.js';
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
} from '../model/options.js';
import { assertOneOfDevices, requireOptionsObject } from '../model/options.js';
import type { Predicate } from '../operations/predicate.js';
import type { Offsets } from '../operations/segmented-sort.js';
import type { Reduced, ReducedKeys, ReducedValues } from './arguments.js';
import type { SegmentedArgsortOptions, TopKSegmentsOptions } from './segment-operations.js';
import type { MergeOptions, SearchSortedOptions } from './select-operations.js';
import { Sorter } from './sorter.js';

/** One lazily opened Sorter for each device, or list of devices, that was requested. */
const sorters = new Map<string, Promise<Sorter>>();

/** Returns the Sorter of a device, and opens it on first use. A failure is not cached. */
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

/** Runs `use` with the Sorter that the options select. The Sorter validates all other options. */
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
 * Sorts `keys` into a new array of the same type, on the best device, or on that of option `device`, or on several that
 * share the keys (option `devices`).
 *
 *     const sorted = await sort(Float32Array.of(3, 1, 2), { descending: true });
 *
 * Stable. The order is total: numbers in order, −0 before +0, NaN last (option `nan`). No bit of a key changes, and the
 * input stays as it is. The first call opens the device, which stays open until `closeAll()`. Algorithms and complexity:
 * see `Sorter.sort`.
 *
 * @param keys typed array or Buffer of any dtype
 * @param options `descending` (default `false`), `nan` (default `'last'`), `device` (default `'auto'`), `into` and the
 *   other options of a sort
 * @returns the sorted keys, in an array of the type and length of `keys`, or in `into`
 * @throws UsageError for an unknown option or an impossible value, and for `device` together with `devices`
 * @throws DtypeError when option `dtype` does not fit the array
 * @throws InputError when `keys` is not an array, is detached or holds no whole number of keys; when `into` does not
 *   fit or overlaps the input
 * @throws NoLoaderError, NoPlatformError or NoDeviceError when a requested device is not available
 * @throws UnsupportedError when the algorithm or the device cannot sort these keys
 * @throws MemoryError when host or device memory is insufficient
 * @throws DeviceLostError when the device fails
 * @throws TimeoutError when `timeout` has passed
 * @throws MismatchError when the result is wrong and `onMismatch` is `'throw'`
 * @throws AbortedError when `signal` fires
 */
export function sort<K extends KeyArray>(keys: K, options?: SortOptions & Into<K>): Promise<K> {
  return withSorter(options, (sorter, rest) => sorter.sort(keys, rest));
}

/**
 * Returns the positions of `keys` in sorted order: `keys[result[0]]` comes first. Stable, in the order of `sort`.
 *
 *     const order = await argsort(prices);
 *     const names = Array.from(order, (i) => products[i]); // cheapest first
 *
 * @param keys typed array of fewer than 2^32 keys
 * @param options the options of `sort`; `into` is a Uint32Array
 * @returns positions as 32-bit numbers
 * @throws UnsupportedError for 2^32 keys or more
 * @throws the other errors of `sort`
 */
export function argsort(keys: KeyArray, options?: SortOptions & Into<Uint32Array>): Promise<Uint32Array> {
  return withSorter(options, (sorter, rest) => sorter.argsort(keys, rest));
}

/**
 * Sorts `keys` and moves `values` along with them. Stable: values of equal keys keep their order.
 *
 *     const { keys, values } = await sortPairs(temperatures, Uint32Array.from(ids));
 *
 * @param keys typed array
 * @param values any typed array with 1 to 16 bytes for each key
 * @param options the options of `sort`; `into` is `{ keys, values }`, or one of them
 * @returns sorted keys and the values in the order of their keys, in new arrays of the same types
 * @throws InputError when the lengths do not fit or the arrays overlap
 * @throws the other errors of `sort`
 */
export function sortPairs<K extends KeyArray, V extends ValueArray>(
  keys: K,
  values: V,
  options?: SortOptions & Into<{ keys: K; values: V }>,
): Promise<{ keys: K; values: V }> {
  return withSorter(options, (sorter, rest) => sorter.sortPairs(keys, values, rest));
}

/**
 * Sorts `keys` in place. Stable, in the order of `sort`. After a failure the keys are unchanged, unless the device
 * fails during the last step, which copies the result back.
 *
 * @param keys typed array
 * @param options the options of `sort` without `into`
 * @returns `keys`
 * @throws the errors of `sort`
 * @example
 * ```ts
 * await sortInPlace(prices);
 * ```
 */
export function sortInPlace<K extends KeyArray>(keys: K, options?: SortOptions): Promise<K> {
  return withSorter(options, (sorter, rest) => sorter.sortInPlace(keys, rest));
}

/**
 * Returns the positions of rows in lexicographic order of their columns: `result[0]` is the position of the first row.
 * Stable; all NaNs are equal, and −0 equals +0.
 *
 *     await lexsort([year, { keys: price, descending: true }]);
 *
 * @param columns typed arrays of the same length, the most significant first; or `{ keys, descending, nan, dtype }` for
 *   a column with its own order
 * @param options `descending` and `nan` for columns without an order of their own, `device`, and how to run
 * @returns positions as 32-bit numbers
 * @throws InputError when the lengths differ, or there is no column
 * @throws UnsupportedError for 2^32 rows or more
 * @throws the other errors of `sort`
 */
export function lexsort(
  columns: readonly (KeyArray | LexsortColumn<KeyArray>)[],
  options?: LexsortOptions,
): Promise<Uint32Array> {
  return withSorter(options, (sorter, rest) => sorter.lexsort(columns, rest));
}

/**
 * Returns the `k` largest keys, or the smallest, in order, and their positions. The result is the beginning of what
 * `sort` and `argsort` return. Of equal keys the first ones are taken.
 *
 *     const { keys, indices } = await topK(scores, 100);
 *
 * @param keys typed array of fewer than 2^32 keys
 * @param k number of keys; all of them if there are fewer
 * @param options `largest` (default `true`; `false` for the smallest keys), and the options of `sort` without
 *   `descending` and `into`
 * @returns `keys`, and `indices` as 32-bit numbers
 * @throws UsageError when `k` is not a whole number
 * @throws UnsupportedError for 2^32 keys or more
 * @throws the other errors of `sort`
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
 * Sorts each segment of `keys` separately. Segment s is `[offsets[s], offsets[s + 1])`. Stable, in the order of `sort`.
 *
 *     await segmentedSort(Float32Array.of(3, 1, 2, 9, 7), [0, 3, 3, 5]); // 1, 2, 3, 7, 9
 *
 * @param keys typed array of fewer than 2^32 keys
 * @param offsets start of each segment, ascending from 0, then the number of keys; or a number, the length of every
 *   segment
 * @param options the options of `sort`
 * @returns the keys, each segment sorted
 * @throws InputError for wrong offsets
 * @throws UnsupportedError for 2^32 keys or more
 * @throws the other errors of `sort`
 */
export function segmentedSort<K extends KeyArray>(
  keys: K,
  offsets: Offsets,
  options?: SortOptions & Into<K>,
): Promise<K> {
  return withSorter(options, (sorter, rest) => sorter.segmentedSort(keys, offsets, rest));
}

/**
 * Returns the positions of `keys` in the order of `segmentedSort`.
 *
 * @param keys typed array of fewer than 2^32 keys
 * @param offsets as for `segmentedSort`
 * @param options the options of `argsort`, and `positions`: counted from the start of the `'array'` (default) or of
 *   each `'segment'`
 * @returns positions as 32-bit numbers
 * @throws the errors of `segmentedSort`
 * @example
 * ```ts
 * await segmentedArgsort(Float32Array.of(3, 1, 2, 9, 7), [0, 3, 5]); // 1, 2, 0, 4, 3
 * ```
 */
export function segmentedArgsort(
  keys: KeyArray,
  offsets: Offsets,
  options?: SegmentedArgsortOptions & Into<Uint32Array>,
): Promise<Uint32Array> {
  return withSorter(options, (sorter, rest) => sorter.segmentedArgsort(keys, offsets, rest));
}

/**
 * Sorts each segment of `keys` separately and moves `values` along, as `sortPairs` does. Stable.
 *
 * @param keys typed array of fewer than 2^32 keys
 * @param values any typed array with 1 to 16 bytes for each key
 * @param offsets as for `segmentedSort`
 * @param options the options of `sort` without `into`
 * @returns keys and values, sorted within each segment
 * @throws InputError when the lengths do not fit or the arrays overlap
 * @throws the other errors of `segmentedSort`
 * @example
 * ```ts
 * const { keys, values } = await segmentedSortPairs(scores, ids, [0, 3, 5]);
 * ```
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
 * Sorts many arrays of one dtype, each separately, in one call. For small arrays, a call for each takes longer than
 * sorting them. Stable, in the order of `sort`.
 *
 *     const [a, b] = await sortMany([Float32Array.of(3, 1, 2), Float32Array.of(9, 7)]);
 *
 * @param arrays typed arrays with fewer than 2^32 keys in all; may be empty
 * @param options the options of `sort` without `into`
 * @returns sorted arrays, in the given order: views of one new buffer
 * @throws DtypeError when the arrays have more than one dtype
 * @throws UnsupportedError for 2^32 keys or more in all
 * @throws the other errors of `sort`
 */
export function sortMany<K extends KeyArray>(arrays: readonly K[], options?: SortOptions): Promise<K[]> {
  return withSorter(options, (sorter, rest) => sorter.sortMany(arrays, rest));
}

/**
 * Returns the positions that `argsort` returns for each of many arrays, in one call. Positions are counted within each
 * array.
 *
 * @param arrays typed arrays with fewer than 2^32 keys in all; may be empty
 * @param options the options of `sort` without `into`
 * @returns one array of positions for each array, in the given order: views of one new buffer
 * @throws the errors of `sortMany`
 * @example
 * ```ts
 * const [a, b] = await argsortMany([Float32Array.of(3, 1, 2), Float32Array.of(9, 7)]);
 * ```
 */
export function argsortMany(arrays: readonly KeyArray[], options?: SortOptions): Promise<Uint32Array[]> {
  return withSorter(options, (sorter, rest) => sorter.argsortMany(arrays, rest));
}

/**
 * Returns the distinct keys in order, and how often each occurs. All NaNs are equal, and −0 equals +0. Each result is
 * the first of its equals in the input.
 *
 * @param keys typed array of fewer than 2^32 keys
 * @param options the options of `sort` without `bitRange` and `into`
 * @returns `keys`, and `counts` as 32-bit numbers
 * @throws UnsupportedError for 2^32 keys or more
 * @throws the other errors of `sort`
 * @example
 * ```ts
 * const { keys, counts } = await unique(Uint8Array.of(3, 1, 3)); // 1, 3 and 1, 2
 * ```
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
 * Returns the sum, minimum or maximum of `keys`. A sum of integers is a BigInt of 64 bits, which wraps. A minimum or
 * maximum is NaN if a key is NaN; −0 is below +0. Error bounds: see `Sorter.reduce`.
 *
 * @param keys typed array
 * @param op `'sum'`, `'min'` or `'max'`
 * @param options `device` (default `'auto'`), `devices`, `dtype`, `signal`, `timeout` and `onWarning`
 * @returns a number, or a BigInt for sums of integers and for 64-bit integers
 * @throws InputError for the minimum or maximum of no keys
 * @throws UnsupportedError for sums of f16
 * @throws the other errors of `sort`
 * @example
 * ```ts
 * const largest = await reduce(prices, 'max');
 * ```
 */
export function reduce<D extends Dtype, O extends ReduceOp>(
  keys: KeyArray,
  op: O,
  options: PrimitiveOptions & { readonly dtype: D },
): Promise<Reduced<D, O>>;
export function reduce<K extends KeyArray, O extends ReduceOp>(
  keys: K,
  op: O,
  options?: PrimitiveOptions & { readonly dtype?: undefined },
): Promise<ReducedKeys<K, O>>;
export function reduce(keys: KeyArray, op: ReduceOp, options?: PrimitiveOptions): Promise<number | bigint>;
export function reduce(keys: KeyArray, op: ReduceOp, options?: PrimitiveOptions): Promise<number | bigint> {
  return withSorter(options, (sorter, rest) => sorter.reduce(keys, op, rest));
}

/**
 * Returns prefix sums of `keys`: each result is the sum of the keys before its key, and with `inclusive` of the key
 * itself. Option `op` selects minima, maxima or products instead.
 *
 * Results have the dtype of the keys, or `resultDtype`; integers wrap in it. Error bounds and first results: see
 * `Sorter.scan`.
 *
 * @param keys typed array
 * @param options `op` (default `'sum'`), `inclusive` (default `false`), `resultDtype`, `verify` (default `false`),
 *   `into`, `device` (default `'auto'`), `devices`, `dtype`, `signal`, `timeout` and `onWarning`
 * @returns one result for each key
 * @throws UnsupportedError for sums and products of f16
 * @throws the other errors of `sort`
 * @example
 * ```ts
 * await scan(Uint32Array.of(3, 1, 2), { inclusive: true }); // 3, 4, 6
 * ```
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
 * Counts the keys in each bin: `bins` bins of equal width over `range`, or bins between `edges`, or the values of a
 * digit, `bitRange` of the keys' codes. A bin includes its lower edge and the last bin its upper edge; NaN is in no bin.
 *
 *     await histogram(ages, { bins: 10, range: [0, 100] });
 *
 * @param keys typed array of fewer than 2^32 keys
 * @param options `bins` and `range`, or `edges`, or `bitRange`; `device` (default `'auto'`), `devices`, `dtype`, `signal`,
 *   `timeout` and `onWarning`
 * @returns one count for each bin
 * @throws UsageError when the options do not define bins
 * @throws UnsupportedError for 2^32 keys or more
 * @throws the other errors of `sort`
 */
export function histogram(keys: KeyArray, options: HistogramOptions): Promise<Uint32Array> {
  return withSorter(options, (sorter, rest) => sorter.histogram(keys, rest));
}

/**
 * Gathers elements: `result[i]` is `values[indices[i]]`. A list of columns returns a list.
 *
 *     const [ids, amounts] = await gather([allIds, allAmounts], await argsort(dates));
 *
 * @param values typed array, or a list of typed arrays that have the same length
 * @param indices positions such as those of an `argsort`
 * @param options `device` (default `'auto'`), `devices`, `dtype` (not for a list), `signal`, `timeout`, `onWarning` and
 *   `into`
 * @returns one element for each index, in an array of the type of `values`; for a list, one such array for each column
 * @throws InputError when an index is out of range, and when the columns differ in length
 * @throws the other errors of `sort`
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
 * Returns the keys that a predicate or a mask selects, in input order.
 *
 *     await filter(prices, { from: 10, below: 20 });
 *
 * @param keys typed array of fewer than 2^32 keys
 * @param by mask of one byte for each key, which selects the keys whose byte is not 0; or a condition on the keys
 * @param options `verify` (default `false`), `device` (default `'auto'`), `devices`, `dtype`, `signal`, `timeout` and
 *   `onWarning`
 * @returns the selected keys, in an array of the type of `keys`
 * @throws InputError when the mask does not fit
 * @throws UnsupportedError for 2^32 keys or more
 * @throws the other errors of `sort`
 */
export function filter<K extends KeyArray>(
  keys: K,
  by: Uint8Array | Predicate,
  options?: CheckedOptions,
): Promise<K> {
  return withSorter(options, (sorter, rest) => sorter.filter<KeyArray>(keys, by, rest)) as Promise<K>;
}

/**
 * Returns all keys, the selected ones first. Both groups keep their input order.
 *
 * @param keys typed array of fewer than 2^32 keys
 * @param by mask or predicate, as for `filter`
 * @param options the options of `filter`, and `into`
 * @returns all keys; the first `count` are the selected ones
 * @throws the errors of `filter`
 * @example
 * ```ts
 * const { keys, count } = await partition(prices, { below: 20 });
 * ```
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
 * Returns the insertion point of each key in a sorted array: the number of keys of `sorted` that come before it. With
 * `side: 'right'`, keys that are equal to it count as well.
 *
 * @param sorted fewer than 2^32 keys in the order of `sort`, of the dtype of `keys`
 * @param keys typed array of keys to search for
 * @param options `side` (default `'left'`), `descending` (default `false`), `nan` (default `'last'`), `into`, `device`
 *   (default `'auto'`), `devices`, `dtype`, `signal`, `timeout` and `onWarning`
 * @returns positions as 32-bit numbers
 * @throws InputError when the arrays differ in dtype
 * @throws UnsupportedError for 2^32 sorted keys or more
 * @throws the other errors of `sort`
 * @example
 * ```ts
 * await searchSorted(Uint32Array.of(10, 20, 30), Uint32Array.of(20, 25)); // 1, 2
 * ```
 */
export function searchSorted<K extends KeyArray>(
  sorted: K,
  keys: K,
  options?: SearchSortedOptions & Into<Uint32Array>,
): Promise<Uint32Array> {
  return withSorter(options, (sorter, rest) => sorter.searchSorted<KeyArray>(sorted, keys, rest));
}

/**
 * Merges two sorted arrays into one. Of equal keys those of `a` come first.
 *
 * @param a typed array in the order of `sort`
 * @param b typed array of the same dtype in the same order
 * @param options `descending` (default `false`), `nan` (default `'last'`), `into`, `device` (default `'auto'`),
 *   `devices`, `dtype`, `signal`, `timeout` and `onWarning`
 * @returns the merged keys, in an array of the type of `a`
 * @throws InputError when the arrays differ in dtype
 * @throws the other errors of `sort`
 * @example
 * ```ts
 * await merge(Uint32Array.of(1, 4), Uint32Array.of(2, 3)); // 1, 2, 3, 4
 * ```
 */
export function merge<K extends KeyArray>(a: K, b: K, options?: MergeOptions & Into<K>): Promise<K> {
  return withSorter(options, (sorter, rest) => sorter.merge<KeyArray>(a, b, rest)) as Promise<K>;
}

/**
 * Returns the distinct keys in order, and the sum, minimum or maximum of the values of each. Values keep their type,
 * except that sums of integers have 64 bits (u64, i64) and wrap.
 *
 *     const { keys, values } = await reduceByKey(customers, amounts, 'sum');
 *
 * @param keys typed array of fewer than 2^32 keys, in any order
 * @param values typed array of one value for each key
 * @param op `'sum'`, `'min'` or `'max'`
 * @param options the options of `unique`
 * @returns distinct keys, and one reduced value for each, in an array of the type of `values`; for sums of integers a
 *   BigUint64Array or BigInt64Array
 * @throws InputError when the lengths differ
 * @throws UnsupportedError for sums of f16
 * @throws the other errors of `unique`
 */
export function reduceByKey<K extends KeyArray, V extends KeyArray, O extends ReduceOp>(
  keys: K,
  values: V,
  op: O,
  options?: UniqueOptions,
): Promise<{ keys: K; values: ReducedValues<V, O> }> {
  return withSorter(options, (sorter, rest) =>
    sorter.reduceByKey<KeyArray, KeyArray, ReduceOp>(keys, values, op, rest),
  ) as Promise<unknown> as Promise<{ keys: K; values: ReducedValues<V, O> }>;
}

/**
 * Returns the `k` largest keys of each segment, or the smallest, in order, and their positions.
 *
 * @param keys typed array of fewer than 2^32 keys
 * @param offsets as for `segmentedSort`
 * @param k number of keys of each segment; a segment with fewer keys returns all of them
 * @param options the options of `topK`, and `positions` as for `segmentedArgsort`
 * @returns `keys` and `indices` of all segments, concatenated, and `offsets`: the start of each segment in them, then
 *   their number
 * @throws UsageError when `k` is not a whole number
 * @throws the other errors of `segmentedSort`
 * @example
 * ```ts
 * const { keys, indices, offsets } = await topKSegments(scores, [0, 3, 5], 2);
 * ```
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

/**
 * Closes the Sorters that the functions of this module opened. A program need not call it before it ends.
 *
 * @example
 * ```ts
 * await closeAll();
 * ```
 */
export async function closeAll(): Promise<void> {
  const open = [...sorters.values()];
  sorters.clear();
  for (const sorter of await Promise.allSettled(open)) {
    if (sorter.status === 'fulfilled') await sorter.value.close();
  }
}

/**
 * Throws: the name of this function is now `closeAll`.
 *
 * @deprecated Use `closeAll`.
 * @throws UsageError always
 */
export function close(): never {
  throw renamedError('function', 'close');
}
