import { newArray } from '../../../keys/array.js';
import type { KeyArray } from '../../../keys/dtype.js';
import type { SortOptions } from '../../model/options.js';
import { withSorter } from '../default-sorters.js';
import type { OperationContext } from '../operation.js';
import { runSegmentedArgsort } from '../segments/segmented-argsort.js';
import { measureLayout, partMemory, sortInParts, viewsOf } from './parts.js';

export interface ArgsortMany {
  /**
   * Returns the positions that `argsort` returns for each of many host arrays, in one call. Positions are counted
   * within each array.
   *
   * @param arrays typed arrays with fewer than 2^32 keys in all; may be empty
   * @param options the options of `sort` without `into`
   * @returns one Uint32Array for each array, in the given order: views of one new buffer
   * @throws the errors of `sortMany`
   * @example
   * ```ts
   * const [a, b] = await sorter.argsortMany([Float32Array.of(3, 1, 2), Float32Array.of(9, 7)]);
   * ```
   */
  argsortMany(arrays: readonly KeyArray[], options?: SortOptions): Promise<Uint32Array[]>;
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
  return withSorter(options, (sorter: ArgsortMany, rest) => sorter.argsortMany(arrays, rest));
}

export async function runArgsortMany(
  context: OperationContext,
  arrays: readonly KeyArray[],
  options: SortOptions = {},
): Promise<Uint32Array[]> {
  const layout = await measureLayout(arrays, options);
  if (!layout) return [];
  const { offsets } = layout;
  const by = partMemory(context);
  return sortInParts(layout, options, by, () => {
    const positions = newArray('u32', offsets.at(-1) as number, by.memory);
    return {
      sort: (keys, begins, start, end) => {
        const into = positions.subarray(start, end);
        const how = { ...options, positions: 'segment', into } as const;
        return runSegmentedArgsort(context, keys, begins, how, { isOwn: true });
      },
      views: () => viewsOf(positions, offsets, 1),
    };
  });
}
