import type { KeyArray } from '../../../keys/dtype.js';
import type { Keys } from '../../calls/array-store.js';
import { assertIndexable } from '../../model/array-assertions.js';
import { column } from '../../model/column.js';
import { requireOptionsObject } from '../../model/options.js';
import { type Awaitable, assertBoolean, parse, readMatching, taskOf } from '../arguments.js';
import { withSorter } from '../default-sorters.js';
import type { OperationContext } from '../operation.js';
import type { Mask } from '../select/selection.js';
import { markMembers, type SetOptions } from './contains.js';

export interface IsIn {
  /**
   * Returns a mask of the keys that are among other keys: 1 for those, 0 for the rest. `filter` accepts the mask.
   *
   * Keys are compared as numbers: all NaNs are equal, and −0 equals +0. Complexity: a sort of `others`, and one binary
   * search for each key; for integers of a small range two accesses to a table for each key.
   *
   * @param keys typed array or device array, or a promise of one
   * @param others fewer than 2^32 keys of the same dtype in the same place
   * @param options `assumeSorted` (default `false`): `others` is in order; and the options of `sort` without `bitRange`
   *   and `into`
   * @returns mask of one byte (u8) for each key, where the keys are
   * @throws InputError when the arrays differ in dtype or place
   * @throws UnsupportedError for 2^32 others or more
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * await sorter.isIn(Uint32Array.of(5, 1, 4), Uint32Array.of(4, 5)); // 1, 0, 1
   * ```
   */
  isIn<K extends Keys>(keys: Awaitable<K>, others: Awaitable<K>, options?: SetOptions): Promise<Mask<K>>;
}

/**
 * Returns a mask of the keys that are among other keys: 1 for those, 0 for the rest. `filter` accepts the mask. All NaNs
 * are equal, and −0 equals +0.
 *
 * @param keys typed array
 * @param others typed array of fewer than 2^32 keys of the same dtype
 * @param options `assumeSorted` (default `false`): `others` is in order; and the options of `sort` without `bitRange` and
 *   `into`
 * @returns mask of one byte for each key
 * @throws InputError when the arrays differ in dtype
 * @throws UnsupportedError for 2^32 others or more
 * @throws the other errors of `sort`
 * @example
 * ```ts
 * await isIn(Uint32Array.of(5, 1, 4), Uint32Array.of(4, 5)); // 1, 0, 1
 * ```
 */
export function isIn<K extends KeyArray>(keys: K, others: K, options?: SetOptions): Promise<Uint8Array> {
  return withSorter(options, (sorter: IsIn, rest) => sorter.isIn<KeyArray>(keys, others, rest));
}

export const runIsIn = (
  { calls, arrays }: OperationContext,
  keys: Awaitable<Keys>,
  others: Awaitable<Keys>,
  options?: SetOptions,
): Promise<Mask<Keys>> =>
  calls.runWithInputs([keys, others], (dependency) => {
    const { assumeSorted = false, ...rest } = requireOptionsObject(options);
    assertBoolean('assumeSorted', assumeSorted);
    const [array, otherArray] = [dependency.resolveInput(keys), dependency.resolveInput(others)];
    const settings = parse(rest, ['bitRange']);
    const [input, other] = readMatching(arrays, array, otherArray, settings, 'keys and others');
    assertIndexable(other.n);
    return arrays.withResults((make) => {
      const mask = make.allocateBeside(array, 'u8', input.n);
      const result = mask.result as Mask<Keys>;
      if (input.n === 0) return result;
      dependency.setResult(result);
      const task = { ...taskOf('unique', input, settings, array, dependency), n: input.n + other.n };
      return calls.execute(task, async (call) => {
        const bound = await call.bindInput(input);
        const to = column('u8', input.n, mask.place);
        await call.bindOutput(to, (out) =>
          markMembers(call, { others: other, areSorted: assumeSorted }, bound, false, out),
        );
        return () => result;
      });
    });
  });
