import type { ValueArray } from '../../../keys/array.js';
import type { KeyArray } from '../../../keys/dtype.js';
import { InputError } from '../../../util/errors.js';
import { invalidArgument } from '../../../util/invalid-argument.js';
import type { Keys } from '../../calls/array-store.js';
import { gatherSteps } from '../../host/host-sort.js';
import { runYielding } from '../../host/steps.js';
import type { DeviceArray } from '../../model/device-array.js';
import { type Into, requireOptionsObject, type SortOptions } from '../../model/options.js';
import { ShardedArray } from '../../model/sharded-array.js';
import {
  type Awaitable,
  assertSeparateOutput,
  CARRIED_VALUE_BYTES,
  dtypeOfValues,
  parse,
  readKeys,
  readValues,
  type Shardable,
  shardedSettings,
} from '../arguments.js';
import { withSorter } from '../default-sorters.js';
import type { Run } from '../operation.js';

export interface SortPairs {
  /**
   * Sorts `keys` and moves `values` along with them. Stable: values of equal keys keep their order.
   *
   * @param keys typed array, device array or sharded array, or a promise of one
   * @param values one value of 1 to 16 bytes for each key, in an array of the same kind as `keys`: both typed arrays,
   *   both device arrays, or both sharded arrays
   * @param options the options of `sort`; `into` is `{ keys, values }`, or one of them
   * @returns sorted keys and the values in the order of their keys, in arrays of the types of the inputs
   * @throws InputError when the lengths do not fit, or keys and values are in different places
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * const { keys, values } = await sorter.sortPairs(temperatures, stationIds);
   * ```
   */
  sortPairs<K extends Shardable, V extends ValueArray | DeviceArray | ShardedArray>(
    keys: Awaitable<K>,
    values: Awaitable<V>,
    options?: SortOptions & Into<{ keys: K; values: V }>,
  ): Promise<{ keys: K; values: V }>;
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
  return withSorter(options, (sorter: SortPairs, rest) => sorter.sortPairs(keys, values, rest));
}

export const runSortPairs: Run<SortPairs> = ({ calls, arrays, shardedArrays }, keys, values, options) =>
  calls.runWithInputs<{ keys: Shardable; values: Shardable }>([keys, values], (dependency) => {
    const [array, beside] = [dependency.resolveInput(keys), dependency.resolveInput(values)];
    const { into, ...rest } = requireOptionsObject(options);
    const settings = parse(rest);
    if (array instanceof ShardedArray || beside instanceof ShardedArray) {
      if (array instanceof ShardedArray && beside instanceof ShardedArray) {
        return shardedArrays().sortPairs(array, beside, shardedSettings(settings, array, into));
      }
      throw new InputError(
        'cannot sort pairs: one array is sharded and the other is not. Shard both or neither',
      );
    }
    const input = readKeys(arrays, array, settings);
    const { place, bytes } = readValues(arrays, array, beside, input);
    const outputs = readPairOutput([array, beside], into);
    return arrays.withResults(async (make) => {
      const sorted = make.allocateLike(array, input.dtype, input.n, outputs.keys);
      const moved = make.allocateLike(beside, dtypeOfValues(beside), beside.length, outputs.values);
      const job = { keys: input, settings, sorted: sorted.place };
      if (CARRIED_VALUE_BYTES.has(bytes)) {
        const pairs = { ...job, values: { place, bytes }, moved: moved.place };
        await calls.sort(pairs, dependency, undefined, into);
      } else {
        // No dtype has this size, so both are typed arrays.
        const positions = new Uint32Array(input.n);
        await calls.sort({ ...job, moved: positions }, dependency, undefined);
        const [from, to] = [place as ArrayBufferView, moved.place as ArrayBufferView];
        await runYielding(gatherSteps(from, positions, bytes, to), settings.signal);
      }
      return { keys: sorted.result, values: moved.result };
    });
  });

/**
 * Returns the arrays that the caller passed for results.
 *
 * @throws InputError when they overlap each other or an input, or `into` is no pair
 */
function readPairOutput(
  inputs: readonly Keys[],
  into: { keys?: Shardable; values?: Shardable } | undefined,
): { keys?: Keys | undefined; values?: Keys | undefined } {
  if (into === undefined) return {};
  if (typeof into !== 'object' || into === null || (into.keys ?? into.values) === undefined) {
    throw invalidArgument('into', '{ keys, values }, or one of them', into, { type: InputError });
  }
  const { keys, values } = into;
  for (const one of inputs) {
    assertSeparateOutput(one, keys);
    assertSeparateOutput(one, values);
  }
  assertSeparateOutput(keys as Keys | undefined, values);
  return { keys, values } as ReturnType<typeof readPairOutput>;
}
