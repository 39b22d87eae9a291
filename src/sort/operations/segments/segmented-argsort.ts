import type { KeyArray } from '../../../keys/dtype.js';
import type { Keys } from '../../calls/array-store.js';
import { type Into, requireOptionsObject, type SortOptions } from '../../model/options.js';
import { type Awaitable, assertOneOf, assertSeparateOutput, type Positions, parse } from '../arguments.js';
import { withSorter } from '../default-sorters.js';
import type { OperationContext } from '../operation.js';
import type { Offsets } from './segment-column.js';
import { callSegmented, type SegmentOffsets } from './segmented-call.js';

/** Options of `segmentedArgsort`. */
export type SegmentedArgsortOptions = SortOptions & {
  /**
   * Origin of the positions: the start of the array, or that of each segment.
   *
   * @defaultValue `'array'`
   */
  readonly positions?: 'array' | 'segment';
};

export interface SegmentedArgsort {
  /**
   * Returns the positions of `keys` in the order of `segmentedSort`. The positions of a segment are stored where its
   * keys would be.
   *
   * @param keys fewer than 2^32 keys: typed array or device array, or a promise of one
   * @param offsets as for `segmentedSort`
   * @param options the options of `argsort`, and `positions`: counted from the start of the `array`, as `gather` takes
   *   them, or from the start of each `segment`; default `'array'`
   * @returns positions as u32, where the keys are
   * @throws the errors of `segmentedSort`
   * @example
   * ```ts
   * await sorter.segmentedArgsort(Float32Array.of(3, 1, 2, 9, 7), [0, 3, 5]); // 1, 2, 0, 4, 3
   * ```
   */
  segmentedArgsort<K extends Keys>(
    keys: Awaitable<K>,
    offsets: Awaitable<SegmentOffsets>,
    options?: SegmentedArgsortOptions & Into<Positions<K>>,
  ): Promise<Positions<K>>;
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
  return withSorter(options, (sorter: SegmentedArgsort, rest) =>
    sorter.segmentedArgsort(keys, offsets, rest),
  );
}

/** @param own.isOwn whether no other code knows the offsets and the memory of option `into` */
export function runSegmentedArgsort(
  context: OperationContext,
  keys: Awaitable<Keys>,
  offsets: Awaitable<SegmentOffsets>,
  options?: SegmentedArgsortOptions & Into<Positions<Keys>>,
  { isOwn = false } = {},
): Promise<Positions<Keys>> {
  return context.calls.runWithInputs([keys, offsets], (dependency) => {
    const { into, positions = 'array', ...rest } = requireOptionsObject(options);
    assertOneOf('positions', ['array', 'segment'], positions);
    const array = dependency.resolveInput(keys);
    assertSeparateOutput(array, into);
    const how = { settings: parse(rest), dependency, into, isOwn };
    return callSegmented(context, array, offsets, how, (make, { n }) => {
      const moved = make.allocateBeside(array, 'u32', n, into);
      dependency.setResult(moved.result);
      const fromSegment = positions === 'segment';
      return { result: moved.result as Positions<Keys>, to: { moved: moved.place, fromSegment } };
    });
  });
}
