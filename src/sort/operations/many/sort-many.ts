import { emptyLike } from '../../../keys/array.js';
import type { KeyArray } from '../../../keys/dtype.js';
import type { SortOptions } from '../../model/options.js';
import { withSorter } from '../default-sorters.js';
import type { OperationContext } from '../operation.js';
import { runSegmentedSort } from '../segments/segmented-sort.js';
import { measureLayout, partMemory, sortInParts, viewsOf } from './parts.js';

export interface SortMany {
  /**
   * Sorts many host arrays of one dtype, each separately, in one call. For small arrays, a call for each takes longer
   * than sorting them.
   *
   * Stable, in the order of `sort`.
   *
   * @param arrays typed arrays with fewer than 2^32 keys in all; may be empty
   * @param options the options of `sort` without `into`
   * @returns sorted arrays of the same lengths, in the given order: views of one new buffer
   * @throws DtypeError when the arrays have more than one dtype
   * @throws UnsupportedError for 2^32 keys or more in all
   * @throws the other errors of `sort`, for any of the arrays
   * @example
   * ```ts
   * const [a, b] = await sorter.sortMany([Float32Array.of(3, 1, 2), Float32Array.of(9, 7)]);
   * ```
   */
  sortMany<K extends KeyArray>(arrays: readonly K[], options?: SortOptions): Promise<K[]>;
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
  return withSorter(options, (sorter: SortMany, rest) => sorter.sortMany(arrays, rest));
}

export async function runSortMany(
  context: OperationContext,
  arrays: readonly KeyArray[],
  options: SortOptions = {},
): Promise<KeyArray[]> {
  const layout = await measureLayout(arrays, options);
  if (!layout) return [];
  const { first, offsets, perKey } = layout;
  const by = partMemory(context);
  return sortInParts(layout, options, by, () => {
    const sorted = emptyLike(first, (offsets.at(-1) as number) * perKey, by.memory);
    return {
      sort: (keys, begins, start, end) => {
        const into = sorted.subarray(start * perKey, end * perKey);
        return runSegmentedSort(context, keys, begins, { ...options, into }, { isOwn: true });
      },
      views: () => viewsOf(sorted, offsets, perKey),
    };
  });
}
