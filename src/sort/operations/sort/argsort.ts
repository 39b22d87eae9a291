import type { KeyArray } from '../../../keys/dtype.js';
import type { Keys } from '../../calls/array-store.js';
import { assertIndexable } from '../../model/array-assertions.js';
import { type Into, requireOptionsObject, type SortOptions } from '../../model/options.js';
import { ShardedArray } from '../../model/sharded-array.js';
import {
  type Awaitable,
  assertSeparateOutput,
  type Positions,
  parse,
  readKeys,
  type Shardable,
  shardedSettings,
} from '../arguments.js';
import { withSorter } from '../default-sorters.js';
import type { Run } from '../operation.js';

export interface Argsort {
  /**
   * Returns the positions of `keys` in sorted order: `keys[result[0]]` comes first.
   *
   * Stable: equal keys keep the order of their positions. The order is that of `sort`.
   *
   * @param keys fewer than 2^32 keys: typed array, device array or sharded array, or a promise of one
   * @param options the options of `sort`; `into` is an array of u32
   * @returns positions as u32, where the keys are: a Uint32Array, a device array or a sharded array
   * @throws UnsupportedError for 2^32 keys or more
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * const order = await sorter.argsort(Float32Array.of(3, 1, 2)); // 1, 2, 0
   * ```
   */
  argsort<K extends Shardable>(
    keys: Awaitable<K>,
    options?: SortOptions & Into<Positions<K>>,
  ): Promise<Positions<K>>;
}

/**
 * Returns the positions of `keys` in sorted order: `keys[result[0]]` comes first. Stable, in the order of `sort`.
 *
 *     const order = await argsort(prices);
 *     const names = Array.from(order, (i) => products[i]); // cheapest first
 *
 * @param keys typed array of fewer than 2^32 keys
 * @param options the options of `sort`; `into` is a Uint32Array
 * @returns positions as 32-bit numbers
 * @throws UnsupportedError for 2^32 keys or more
 * @throws the other errors of `sort`
 */
export function argsort(keys: KeyArray, options?: SortOptions & Into<Uint32Array>): Promise<Uint32Array> {
  return withSorter(options, (sorter: Argsort, rest) => sorter.argsort(keys, rest));
}

export const runArgsort: Run<Argsort> = ({ calls, arrays, shardedArrays }, keys, options) =>
  calls.runWithInputs<Positions<Shardable>>([keys], (dependency) => {
    const array = dependency.resolveInput(keys);
    const { into, ...rest } = requireOptionsObject(options);
    const settings = parse(rest);
    if (array instanceof ShardedArray) {
      return shardedArrays().argsort(array, shardedSettings(settings, array, into));
    }
    const input = readKeys(arrays, array, settings);
    assertIndexable(input.n);
    assertSeparateOutput(array, into);
    return arrays.withResults((make) => {
      const moved = make.allocateBeside(array, 'u32', input.n, into);
      dependency.setResult(moved.result);
      const job = { keys: input, settings, moved: moved.place };
      return calls.sort(job, dependency, moved.result as Positions<Keys>, into);
    });
  });
