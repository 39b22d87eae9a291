import type { Dtype, KeyArray } from '../../../keys/dtype.js';
import { assertReducible, REDUCE_OPS, type ReduceOp } from '../../../primitives/possible.js';
import { chain, type MaybePromise } from '../../../util/maybe-promise.js';
import type { Call } from '../../calls/call.js';
import type { Column } from '../../model/column.js';
import type { PrimitiveOptions } from '../../model/options.js';
import { ShardedArray } from '../../model/sharded-array.js';
import {
  type Awaitable,
  assertOneOf,
  parsePrimitive,
  type Reduced,
  type ReducedKeys,
  readKeys,
  type Shardable,
  shardedSettings,
  taskOf,
} from '../arguments.js';
import { withSorter } from '../default-sorters.js';
import type { Run } from '../operation.js';

export interface Reduce {
  /**
   * Returns the sum, minimum or maximum of `keys`.
   *
   * Sums of integers are BigInts of 64 bits and wrap. Sums of floats have the dtype of the keys and no defined order of
   * additions. They are within 2 log2(n) ε of the sum of magnitudes, where ε is 2^-24 for f32 and 2^-53 for f64. A
   * minimum or maximum is NaN if a key is NaN, and −0 is below +0. For 64-bit integers it is a BigInt.
   *
   * Source: M. Harris, "Optimizing Parallel Reduction in CUDA" (2007); W. Kahan (1965), for sums of floats. Complexity:
   * reads every key once.
   *
   * @param keys typed array, device array or sharded array, or a promise of one
   * @param op `'sum'`, `'min'` or `'max'`
   * @param options `dtype`, `signal`, `timeout` and `onWarning`
   * @returns a number; a BigInt for sums of integers and for 64-bit integers. The sum of no keys is 0
   * @throws InputError for the minimum or maximum of no keys
   * @throws UnsupportedError for sums of f16 and bf16
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * const largest = await sorter.reduce(prices, 'max');
   * ```
   */
  reduce<D extends Dtype, O extends ReduceOp>(
    keys: Awaitable<Shardable>,
    op: O,
    options: PrimitiveOptions & { readonly dtype: D },
  ): Promise<Reduced<D, O>>;
  /** Returns the sum, minimum or maximum of keys of the dtype of their array. */
  reduce<K extends Shardable, O extends ReduceOp>(
    keys: Awaitable<K>,
    op: O,
    options?: PrimitiveOptions & { readonly dtype?: undefined },
  ): Promise<ReducedKeys<K, O>>;
  /** Returns the sum, minimum or maximum of keys whose dtype is only known at run time. */
  reduce(keys: Awaitable<Shardable>, op: ReduceOp, options?: PrimitiveOptions): Promise<number | bigint>;
}

/**
 * Returns the sum, minimum or maximum of `keys`. A sum of integers is a BigInt of 64 bits, which wraps. A minimum or
 * maximum is NaN if a key is NaN; −0 is below +0. Error bounds: see `Sorter.reduce`.
 *
 * @param keys typed array
 * @param op `'sum'`, `'min'` or `'max'`
 * @param options `device` (default `'auto'`), `devices`, `dtype`, `signal`, `timeout` and `onWarning`
 * @returns a number, or a BigInt for sums of integers and for 64-bit integers
 * @throws InputError for the minimum or maximum of no keys
 * @throws UnsupportedError for sums of f16 and bf16
 * @throws the other errors of `sort`
 * @example
 * ```ts
 * const largest = await reduce(prices, 'max');
 * ```
 */
export function reduce<D extends Dtype, O extends ReduceOp>(
  keys: KeyArray,
  op: O,
  options: PrimitiveOptions & { readonly dtype: D },
): Promise<Reduced<D, O>>;
export function reduce<K extends KeyArray, O extends ReduceOp>(
  keys: K,
  op: O,
  options?: PrimitiveOptions & { readonly dtype?: undefined },
): Promise<ReducedKeys<K, O>>;
export function reduce(keys: KeyArray, op: ReduceOp, options?: PrimitiveOptions): Promise<number | bigint>;
export function reduce(keys: KeyArray, op: ReduceOp, options?: PrimitiveOptions): Promise<number | bigint> {
  return withSorter(options, (sorter: Reduce, rest) => sorter.reduce(keys, op, rest));
}

export const runReduce: Run<Reduce> = ({ calls, arrays, group, shardedArrays }, keys, op, options) =>
  calls.runWithInputs<number | bigint>([keys], (dependency) => {
    const array = dependency.resolveInput(keys);
    assertOneOf('op', REDUCE_OPS, op);
    const settings = parsePrimitive(options);
    if (array instanceof ShardedArray) {
      return shardedArrays().reduce(array, op, shardedSettings(settings, array));
    }
    const input = readKeys(arrays, array, settings);
    const task = taskOf('reduce', input, settings, array, dependency);
    if (group) task.shared = group.reduce(input, op, settings);
    return calls.execute(task, (call) => enqueueReduce(call, input, op));
  });

/**
 * Computes the sum, minimum or maximum. Sums of integers are BigInts; sums of floats are numbers in the keys' dtype.
 *
 * @returns a function that returns the result after the wait
 * @throws InputError, UnsupportedError
 */
export function enqueueReduce(call: Call, keys: Column, op: ReduceOp): MaybePromise<() => number | bigint> {
  const { columns } = call;
  assertReducible(keys.dtype, op, keys.n);
  if (keys.n === 0) return () => (keys.info.kind === 'float' ? 0 : 0n);
  if (op === 'sum' && columns.lacksDoubles(keys.dtype)) {
    const host = call.fallBackToHost('sum f64', 'fp64', keys);
    return host.then(({ kernels, keys: copy }) => kernels.reduce(copy, op));
  }
  return chain(call.bindInput(keys), (input) => columns.kernels.reduce(input, op));
}
