import type { KeyArray } from '../../../keys/dtype.js';
import type { Keys } from '../../calls/array-store.js';
import { assertIndexable } from '../../model/array-assertions.js';
import { column } from '../../model/column.js';
import { areOffsetsOnDevice } from '../../model/job.js';
import { requireOptionsObject, type TopKOptions } from '../../model/options.js';
import {
  type Awaitable,
  assertOneOf,
  assertTop,
  type Positions,
  parse,
  readKeys,
  taskOf,
  unusableOption,
} from '../arguments.js';
import { withSorter } from '../default-sorters.js';
import type { Run } from '../operation.js';
import type { Offsets } from './segment-column.js';
import type { SegmentedArgsortOptions } from './segmented-argsort.js';
import { readOffsets, type SegmentOffsets } from './segmented-call.js';
import { enqueueTopSegments } from './top-segments.js';

/** Options of `topKSegments`. */
export type TopKSegmentsOptions = TopKOptions & Pick<SegmentedArgsortOptions, 'positions'>;

/** First keys of each segment. Those of segment s are from `offsets[s]` to before `offsets[s + 1]`. */
export interface TopSegments<K extends Keys> {
  readonly keys: K;
  readonly indices: Positions<K>;
  readonly offsets: Positions<K>;
}

export interface TopKSegments {
  /**
   * Returns the `k` largest keys of each segment, or the smallest, in order, and their positions. Ties and NaNs are
   * handled as in `topK`.
   *
   * @param keys fewer than 2^32 keys: typed array or device array, or a promise of one
   * @param offsets as for `segmentedSort`
   * @param k number of keys of each segment; a segment with fewer keys returns all of them
   * @param options the options of `topK`, and `positions` as for `segmentedArgsort`
   * @returns `keys` and `indices` (u32) of all segments, concatenated, and `offsets` (u32): the start of each segment
   *   in them, then their number
   * @throws UsageError when `k` is not a whole number
   * @throws the other errors of `segmentedSort`
   * @example
   * ```ts
   * const { keys, indices, offsets } = await sorter.topKSegments(scores, [0, 3, 5], 2);
   * ```
   */
  topKSegments<K extends Keys>(
    keys: Awaitable<K>,
    offsets: Awaitable<SegmentOffsets>,
    k: number,
    options?: TopKSegmentsOptions,
  ): Promise<TopSegments<K>>;
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
  return withSorter(options, (sorter: TopKSegments, rest) =>
    sorter.topKSegments<KeyArray>(keys, offsets, k, rest),
  ) as Promise<{
    keys: K;
    indices: Uint32Array;
    offsets: Uint32Array;
  }>;
}

export const runTopKSegments: Run<TopKSegments> = ({ calls, arrays }, keys, offsets, k, options) =>
  calls.runWithInputs([keys, offsets], (dependency) => {
    const { largest = true, positions = 'array', ...rest } = requireOptionsObject(options);
    assertOneOf('positions', ['array', 'segment'], positions);
    assertTop(k, largest);
    if ('descending' in rest) throw unusableOption('descending', "topKSegments uses 'largest' instead");
    const array = dependency.resolveInput(keys);
    const settings = parse({ ...rest, descending: largest });
    const input = readKeys(arrays, array, settings);
    assertIndexable(input.n);
    const where = readOffsets(arrays, dependency.resolveInput(offsets), input.n);
    const segments = { ...where, k, fromSegment: positions === 'segment' };
    return arrays.withResults((make) => {
      const results = (total: number) => {
        const found = make.allocateLike(array, input.dtype, total);
        const indices = make.allocateBeside(array, 'u32', total);
        const begins = make.allocateBeside(array, 'u32', segments.offsets.n);
        return {
          keys: column(input.dtype, total, found.place),
          positions: column('u32', total, indices.place),
          offsets: column('u32', segments.offsets.n, begins.place),
          result: {
            keys: found.result,
            indices: indices.result as Positions<Keys>,
            offsets: begins.result as Positions<Keys>,
          },
        };
      };
      const task = taskOf('segmentedSort', input, settings, array, dependency);
      const onHost = task.onHost && !areOffsetsOnDevice(segments);
      return calls.execute({ ...task, onHost, again: onHost }, async (call) => {
        const { result } = await enqueueTopSegments(call, input, segments, results);
        return () => result;
      });
    });
  });
