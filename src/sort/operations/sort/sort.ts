import type { KeyArray } from '../../../keys/dtype.js';
import type { ArrowVector, VectorOptions } from '../../model/arrow-vector.js';
import { type Into, requireOptionsObject, type SortOptions } from '../../model/options.js';
import { ShardedArray } from '../../model/sharded-array.js';
import {
  type Awaitable,
  assertSeparateOutput,
  parse,
  readKeys,
  type Shardable,
  shardedSettings,
} from '../arguments.js';
import { withSorter } from '../default-sorters.js';
import type { Run } from '../operation.js';

export interface Sort {
  /**
   * Sorts an `apache-arrow` vector of numbers, dates, times, strings or bytes into a new vector of one chunk.
   *
   * Stable, in the order of `sort` of its values, or of the bytes of strings, which is that of code points. Nulls come last, or first with `nulls: 'first'`, in either direction.
   * A vector of one chunk without nulls is not copied before the sort.
   *
   * @param vector vector of the package `apache-arrow`; the input does not change
   * @param options `nulls` (default `'last'`), and the options of `sort` without `dtype` and `into`
   * @returns a vector of the same type and length, not memoized
   * @throws UnsupportedError when the type of the vector is not supported
   * @throws InputError when the buffers of the vector do not fit its length or its number of nulls
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * const sorted = await sorter.sort(table.getChild('price')!, { nulls: 'first' });
   * ```
   */
  sort<V extends ArrowVector>(vector: V, options?: VectorOptions<SortOptions>): Promise<V>;
  /**
   * Sorts `keys` into a new array of the same type. The input does not change.
   *
   * The sort is stable, and the order is total over bit patterns: numbers in order, −0 before +0, then NaN. No bit of a
   * key changes. The planner selects an algorithm, see `plan`. A radix sort takes O(n) time for each digit of the key.
   *
   * @param keys typed array, device array or sharded array, or a promise of one; any dtype
   * @param options `descending` (default `false`), `nan` (default `'last'`), `into` and the other options of a sort,
   *   without `device` and `devices`
   * @returns the sorted keys, in an array of the type and length of `keys`, or in `into`
   * @throws UsageError for an unknown option, an impossible value or a closed Sorter
   * @throws DtypeError when option `dtype` does not fit the array
   * @throws InputError when `keys` is not an array, is detached or holds no whole number of keys; when `into` does not
   *   fit or overlaps the input; when an input is the result of a failed call
   * @throws UnsupportedError when the algorithm or the device cannot sort these keys
   * @throws MemoryError when host or device memory is insufficient
   * @throws DeviceLostError when the device fails
   * @throws TimeoutError when `timeout` has passed
   * @throws MismatchError when the result is wrong and `onMismatch` is `'throw'`
   * @throws AbortedError when `signal` fires
   * @example
   * ```ts
   * const sorted = await sorter.sort(Float32Array.of(3, 1, 2), { descending: true }); // 3, 2, 1
   * ```
   */
  sort<K extends Shardable>(keys: Awaitable<K>, options?: SortOptions & Into<K>): Promise<K>;
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
export function sort<K extends KeyArray>(keys: K, options?: SortOptions & Into<K>): Promise<K>;
/**
 * Sorts an `apache-arrow` vector of numbers, dates, times, strings or bytes into a new vector of one chunk. Stable;
 * strings are in the order of their bytes, which is that of code points. Nulls come
 * last (option `nulls`). A vector of one chunk without nulls is not copied before the sort.
 *
 *     const sorted = await sort(table.getChild('price'), { nulls: 'first' });
 *
 * @param vector vector of the package `apache-arrow`; the input does not change
 * @param options `nulls` (default `'last'`), and the options of `sort` without `dtype` and `into`
 * @returns a vector of the same type and length, not memoized
 * @throws UnsupportedError when the type of the vector is not supported
 * @throws InputError when the buffers of the vector do not fit its length or its number of nulls
 * @throws the other errors of `sort`
 */
export function sort<V extends ArrowVector>(vector: V, options?: VectorOptions<SortOptions>): Promise<V>;
export function sort(keys: KeyArray, options?: SortOptions & Into<KeyArray>): Promise<KeyArray> {
  return withSorter(options, (sorter: Sort, rest) => sorter.sort(keys, rest));
}

export const runSort: Run<Sort> = ({ calls, arrays, shardedArrays }, keys, options) =>
  calls.runWithInputs<Shardable>([keys], (dependency) => {
    const array = dependency.resolveInput(keys);
    const { into, ...rest } = requireOptionsObject(options);
    const settings = parse(rest);
    if (array instanceof ShardedArray) {
      return shardedArrays().sort(array, shardedSettings(settings, array, into));
    }
    const input = readKeys(arrays, array, settings);
    assertSeparateOutput(array, into);
    return arrays.withResults((make) => {
      const sorted = make.allocateLike(array, input.dtype, input.n, into);
      dependency.setResult(sorted.result);
      const job = { keys: input, settings, sorted: sorted.place };
      return calls.sort(job, dependency, sorted.result, into);
    });
  });
