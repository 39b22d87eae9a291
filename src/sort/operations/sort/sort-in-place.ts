import { copyBytes, isResizable } from '../../../keys/array.js';
import type { KeyArray } from '../../../keys/dtype.js';
import type { Keys } from '../../calls/array-store.js';
import { assertNotDetached } from '../../model/array-assertions.js';
import { DeviceArray } from '../../model/device-array.js';
import type { SortOptions } from '../../model/options.js';
import { type Awaitable, parse, readKeys } from '../arguments.js';
import { withSorter } from '../default-sorters.js';
import type { Run } from '../operation.js';
import { runSort } from './sort.js';

export interface SortInPlace {
  /**
   * Sorts `keys` in place, with a second array of the same size on the device.
   *
   * After a failure the keys are unchanged, unless the device fails during the last step, which copies the result back.
   * Stable, in the order of `sort`.
   *
   * @param keys typed array or device array, or a promise of one
   * @param options the options of `sort` without `into`
   * @returns `keys`
   * @throws the errors of `sort`
   * @example
   * ```ts
   * await sorter.sortInPlace(prices);
   * ```
   */
  sortInPlace<K extends Keys>(keys: Awaitable<K>, options?: SortOptions): Promise<K>;
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
  return withSorter(options, (sorter: SortInPlace, rest) => sorter.sortInPlace(keys, rest));
}

export const runSortInPlace: Run<SortInPlace> = (context, keys, options) => {
  const { calls, arrays, group } = context;
  return calls.runWithInputs([keys], async (dependency) => {
    const array = dependency.resolveInput(keys);
    const settings = parse(options);
    const input = readKeys(arrays, array, settings);
    const onHost = !(array instanceof DeviceArray);
    const isShared = group?.isWorthSharing(input.n * input.info.bytes, settings) ?? false;
    if (onHost && (isResizable(array) || isShared)) {
      // A device must not hold memory that may shrink. A result of several devices is copied only when it is
      // complete.
      const sorted = (await runSort(context, array, options)) as KeyArray;
      assertNotDetached([[array, sorted.byteLength]]);
      copyBytes(sorted, array);
      return array;
    }
    dependency.setResult(array);
    const task = { n: input.n, settings, dependency, onHost, again: onHost, overwrites: true };
    await calls.execute(task, async (call) => {
      const sorted = call.columns.temporary(input.dtype, input.n);
      await call.sort({ keys: input, sorted: sorted.place });
      await call.settle();
      task.again = false; // from here on the keys may be partly overwritten
      await call.copy(sorted, onHost ? { ...input, place: array } : input);
      return () => undefined;
    });
    return array;
  });
};
