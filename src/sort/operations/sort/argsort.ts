import type { ArrayOf } from '../../../keys/array.js';
import type { KeyArray } from '../../../keys/dtype.js';
import { chain } from '../../../util/maybe-promise.js';
import type { ArrowVector, VectorOptions } from '../../model/arrow-vector.js';
import { type Column, column } from '../../model/column.js';
import { DeviceArray } from '../../model/device-array.js';
import { type Into, requireOptionsObject, type SortOptions } from '../../model/options.js';
import { ShardedArray } from '../../model/sharded-array.js';
import {
  type Awaitable,
  assertSeparateOutput,
  type PositionDtype,
  type Positions,
  parse,
  readKeys,
  type Shardable,
  shardedSettings,
  taskOf,
} from '../arguments.js';
import { withSorter } from '../default-sorters.js';
import type { OperationContext } from '../operation.js';
import {
  isBeyondU32,
  type PositionOptions,
  readPositions,
  widenOnHost,
  writePositions,
} from '../positions.js';

export interface Argsort {
  /**
   * Returns the positions of the rows of an `apache-arrow` vector in the order of `sort` of the vector.
   *
   * @param vector vector of fewer than 2^32 rows
   * @param options `nulls` (default `'last'`), and the options of `sort` without `dtype` and `into`
   * @returns positions as u32, also those of nulls
   * @throws the errors of `sort` of a vector
   * @example
   * ```ts
   * const order = await sorter.argsort(table.getChild('price')!, { descending: true });
   * ```
   */
  argsort(vector: ArrowVector, options?: VectorOptions<SortOptions>): Promise<Uint32Array>;
  /**
   * Returns the positions of `keys` in sorted order: `keys[result[0]]` comes first.
   *
   * Stable: equal keys keep the order of their positions. The order is that of `sort`.
   *
   * @param keys typed array, device array or sharded array, or a promise of one
   * @param options `positions` (default `'u32'`), and the options of `sort`; `into` is an array of positions
   * @returns positions as u32 or u64, where the keys are: a Uint32Array or BigUint64Array, a device array or a sharded
   *   array
   * @throws UnsupportedError for 2^32 keys or more without `positions: 'u64'`
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * const order = await sorter.argsort(Float32Array.of(3, 1, 2)); // 1, 2, 0
   * ```
   */
  argsort<K extends Shardable, P extends PositionDtype = 'u32'>(
    keys: Awaitable<K>,
    options?: SortOptions & PositionOptions<P> & Into<Positions<K, P>>,
  ): Promise<Positions<K, P>>;
}

/**
 * Returns the positions of `keys` in sorted order: `keys[result[0]]` comes first. Stable, in the order of `sort`.
 *
 *     const order = await argsort(prices);
 *     const names = Array.from(order, (i) => products[i]); // cheapest first
 *
 * @param keys typed array
 * @param options `positions` (default `'u32'`), and the options of `sort`; `into` is an array of positions
 * @returns positions: a Uint32Array, or a BigUint64Array with `positions: 'u64'`
 * @throws UnsupportedError for 2^32 keys or more without `positions: 'u64'`
 * @throws the other errors of `sort`
 */
export function argsort<P extends PositionDtype = 'u32'>(
  keys: KeyArray,
  options?: SortOptions & PositionOptions<P> & Into<ArrayOf<P>>,
): Promise<ArrayOf<P>>;
/**
 * Returns the positions of the rows of an `apache-arrow` vector in the order of `sort` of the vector.
 *
 *     const order = await argsort(table.getChild('price'), { descending: true });
 *
 * @param vector vector of fewer than 2^32 rows
 * @param options `nulls` (default `'last'`), and the options of `sort` without `dtype` and `into`
 * @returns positions as 32-bit numbers, also those of nulls
 * @throws the errors of `sort` of a vector
 */
export function argsort(vector: ArrowVector, options?: VectorOptions<SortOptions>): Promise<Uint32Array>;
export function argsort(
  keys: KeyArray | ArrowVector,
  options?: SortOptions & PositionOptions & Into<ArrayOf<PositionDtype>>,
): Promise<ArrayOf<PositionDtype>> {
  return withSorter(options, (sorter: Argsort, rest) =>
    sorter.argsort<KeyArray, PositionDtype>(keys as KeyArray, rest),
  );
}

export const runArgsort = (
  { calls, arrays, shardedArrays }: OperationContext,
  keys: Awaitable<Shardable>,
  options?: SortOptions & PositionOptions & Into<Positions<Shardable, PositionDtype>>,
): Promise<never> =>
  calls.runWithInputs([keys], (dependency) => {
    const array = dependency.resolveInput(keys);
    const { into, positions, ...rest } = requireOptionsObject(options);
    const settings = parse(rest);
    if (array instanceof ShardedArray) {
      const dtype = readPositions(positions, array.length);
      return shardedArrays().argsort(array, shardedSettings(settings, array, into), dtype) as Promise<never>;
    }
    const input = readKeys(arrays, array, settings);
    const dtype = readPositions(positions, input.n);
    assertSeparateOutput(array, into);
    return arrays.withResults((make) => {
      const { place, result } = make.allocateBeside(array, dtype, input.n, into);
      const made = result as never;
      const to = column(dtype, input.n, place);
      const sortTo = (positions: Column) => ({
        keys: input,
        settings,
        moved: positions.place,
        widePositions: positions.dtype === 'u64',
      });
      if (dtype === 'u64' && array instanceof DeviceArray) {
        dependency.setResult(result);
        return calls.execute(taskOf('argsort', input, settings, array, dependency, into), (call) =>
          chain(
            writePositions(call, input.n, to, (positions) => call.sort(sortTo(positions))),
            () => () => made,
          ),
        );
      }
      if (dtype === 'u64' && !isBeyondU32(input.n)) {
        // The sort may run in chunks or on several devices, so it writes to host memory.
        const narrow = column('u32', input.n, make.allocateBeside(array, 'u32', input.n).place);
        const sorted = calls.sort(sortTo(narrow), dependency, made);
        return sorted.then(() => widenOnHost(narrow, to, settings.signal)).then(() => made);
      }
      dependency.setResult(result);
      return calls.sort(sortTo(to), dependency, made, into);
    });
  });
