import type { KeyArray } from '../../../keys/dtype.js';
import type { Keys } from '../../calls/array-store.js';
import { type Into, requireOptionsObject, type SortOptions } from '../../model/options.js';
import { type Awaitable, assertSeparateOutput, parse } from '../arguments.js';
import { withSorter } from '../default-sorters.js';
import type { OperationContext } from '../operation.js';
import type { Offsets } from './segment-column.js';
import { callSegmented, type SegmentOffsets } from './segmented-call.js';

export interface SegmentedSort {
  /**
   * Sorts each segment of `keys` separately, all of them at once. Segment s is `[offsets[s], offsets[s + 1])`.
   *
   * Stable, in the order of `sort`. The method follows the segment length, after K. Hou, W. Liu, H. Wang, W. Feng,
   * "Fast Segmented Sort on GPUs" (2017).
   *
   * @param keys fewer than 2^32 keys: typed array or device array, or a promise of one
   * @param offsets start of each segment, ascending from 0, then the number of keys: a host array, which is copied, or
   *   a device array of u32. Or a number: the length of every segment, as for the rows of a matrix
   * @param options the options of `sort`
   * @returns the keys, each segment sorted, in an array of the type of `keys`
   * @throws InputError for wrong offsets
   * @throws UnsupportedError for 2^32 keys or more
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * await sorter.segmentedSort(Float32Array.of(3, 1, 2, 9, 7), [0, 3, 5]); // 1, 2, 3, 7, 9
   * ```
   */
  segmentedSort<K extends Keys>(
    keys: Awaitable<K>,
    offsets: Awaitable<SegmentOffsets>,
    options?: SortOptions & Into<K>,
  ): Promise<K>;
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
  return withSorter(options, (sorter: SegmentedSort, rest) => sorter.segmentedSort(keys, offsets, rest));
}

/** @param own.isOwn whether no other code knows the offsets and the memory of option `into` */
export function runSegmentedSort(
  context: OperationContext,
  keys: Awaitable<Keys>,
  offsets: Awaitable<SegmentOffsets>,
  options?: SortOptions & Into<Keys>,
  { isOwn = false } = {},
): Promise<Keys> {
  return context.calls.runWithInputs([keys, offsets], (dependency) => {
    const { into, ...rest } = requireOptionsObject(options);
    const array = dependency.resolveInput(keys);
    assertSeparateOutput(array, into);
    const how = { settings: parse(rest), dependency, into, isOwn };
    return callSegmented(context, array, offsets, how, (make, { n, dtype }) => {
      const sorted = make.allocateLike(array, dtype, n, into);
      dependency.setResult(sorted.result);
      return { result: sorted.result, to: { sorted: sorted.place } };
    });
  });
}
