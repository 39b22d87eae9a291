import type { ValueArray } from '../../../keys/array.js';
import type { KeyArray } from '../../../keys/dtype.js';
import type { Keys } from '../../calls/array-store.js';
import { gatherSteps } from '../../host/host-sort.js';
import { runYielding } from '../../host/steps.js';
import type { Place, Values } from '../../model/column.js';
import type { DeviceArray } from '../../model/device-array.js';
import type { SortOptions } from '../../model/options.js';
import { type Awaitable, dtypeOfValues, parse, readValues } from '../arguments.js';
import { withSorter } from '../default-sorters.js';
import type { Run } from '../operation.js';
import type { Offsets } from './segment-column.js';
import { callSegmented, type SegmentOffsets } from './segmented-call.js';

/** Value sizes in bytes that kernels move within segments; others are gathered after an argsort. */
const CARRIED = new Set([1, 2, 4, 8]);

export interface SegmentedSortPairs {
  /**
   * Sorts each segment of `keys` separately and moves `values` along, as `sortPairs` does. Stable.
   *
   * @param keys fewer than 2^32 keys: typed array or device array, or a promise of one
   * @param values one value of 1 to 16 bytes for each key, where the keys are
   * @param offsets as for `segmentedSort`
   * @param options the options of `sort` without `into`
   * @returns keys and values, sorted within each segment
   * @throws InputError when the lengths do not fit, or keys and values are in different places
   * @throws the other errors of `segmentedSort`
   * @example
   * ```ts
   * const { keys, values } = await sorter.segmentedSortPairs(scores, ids, [0, 3, 5]);
   * ```
   */
  segmentedSortPairs<K extends Keys, V extends ValueArray | DeviceArray>(
    keys: Awaitable<K>,
    values: Awaitable<V>,
    offsets: Awaitable<SegmentOffsets>,
    options?: SortOptions,
  ): Promise<{ keys: K; values: V }>;
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
  return withSorter(options, (sorter: SegmentedSortPairs, rest) =>
    sorter.segmentedSortPairs(keys, values, offsets, rest),
  );
}

export const runSegmentedSortPairs: Run<SegmentedSortPairs> = (context, keys, values, offsets, options) =>
  context.calls.runWithInputs([keys, values, offsets], async (dependency) => {
    const [array, beside] = [dependency.resolveInput(keys), dependency.resolveInput(values)];
    const settings = parse(options);
    /** Values that no kernel moves, and the positions by which they are gathered afterwards. */
    let gathered: { from: Place; bytes: number; to: Place; by: Uint32Array } | undefined;
    const result = await callSegmented(context, array, offsets, { settings, dependency }, (make, input) => {
      const own = readValues(context.arrays, array, beside, input);
      const sorted = make.allocateLike(array, input.dtype, input.n);
      const moved = make.allocateLike(beside as Keys, dtypeOfValues(beside), beside.length);
      const made = { keys: sorted.result, values: moved.result };
      if (CARRIED.has(own.bytes)) {
        const values: Values = own;
        return { result: made, to: { sorted: sorted.place, values, moved: moved.place } };
      }
      const by = new Uint32Array(input.n);
      gathered = { from: own.place, bytes: own.bytes, to: moved.place, by };
      return { result: made, to: { sorted: sorted.place, moved: by } };
    });
    if (gathered) {
      const { from, bytes, to, by } = gathered;
      // No dtype has this size, so both are typed arrays.
      await runYielding(
        gatherSteps(from as ArrayBufferView, by, bytes, to as ArrayBufferView),
        settings.signal,
      );
    }
    return result;
  });
