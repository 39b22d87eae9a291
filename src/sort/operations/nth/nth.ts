import type { KeyArray } from '../../../keys/dtype.js';
import { keyValue } from '../../../keys/value.js';
import { invalidArgument } from '../../../util/invalid-argument.js';
import type { ArrayStore, Keys } from '../../calls/array-store.js';
import type { Dependency } from '../../calls/call-scheduler.js';
import { assertIndexable } from '../../model/array-assertions.js';
import { column } from '../../model/column.js';
import { type CheckedOptions, requireOptionsObject, type SortSettings } from '../../model/options.js';
import {
  type Awaitable,
  parseChecked,
  parseOrder,
  type ReducedKeys,
  readKeys,
  taskOf,
} from '../arguments.js';
import { withSorter } from '../default-sorters.js';
import type { OperationContext } from '../operation.js';
import { columnOfBits, keysAtRanks } from './ranks.js';

/** Options of `nth`, `quantile`, `median` and `argpartition`. */
export type NthOptions = CheckedOptions & {
  /**
   * Position of NaNs in the order.
   *
   * @defaultValue `'last'`
   */
  readonly nan?: 'first' | 'last';
};

export interface Nth {
  /**
   * Returns the key that is at position `k` of the ascending order.
   *
   * A selection by digits reads the keys about twice for each position. For more than eight positions, and with `verify`,
   * all keys are sorted instead. The order is that of `sort`.
   *
   * @param keys fewer than 2^32 keys: typed array or device array, or a promise of one
   * @param k position, from 0; or several positions
   * @param options `nan` (default `'last'`), `verify` (default `false`), `dtype`, `signal`, `timeout` and `onWarning`
   * @returns the key as a number, or as a BigInt for 64-bit integers; for several positions, an array like `keys`, where
   *   the keys are
   * @throws UsageError when a position is not a whole number below the number of keys
   * @throws UnsupportedError for 2^32 keys or more
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * const third = await sorter.nth(Uint8Array.of(9, 5, 7, 1), 2); // 7
   * ```
   */
  nth<K extends Keys>(keys: Awaitable<K>, k: number, options?: NthOptions): Promise<ReducedKeys<K, 'min'>>;
  /** Returns the keys that are at several positions of the ascending order. */
  nth<K extends Keys>(keys: Awaitable<K>, k: readonly number[], options?: NthOptions): Promise<K>;
}

/**
 * Returns the key that is at position `k` of the ascending order. The order is that of `sort`.
 *
 * @param keys typed array of fewer than 2^32 keys
 * @param k position, from 0; or several positions
 * @param options `nan` (default `'last'`), `verify` (default `false`), `device` (default `'auto'`), `devices`, `dtype`,
 *   `signal`, `timeout` and `onWarning`
 * @returns the key as a number, or as a BigInt for 64-bit integers; for several positions, an array like `keys`
 * @throws UsageError when a position is not a whole number below the number of keys
 * @throws UnsupportedError for 2^32 keys or more
 * @throws the other errors of `sort`
 * @example
 * ```ts
 * const third = await nth(Uint8Array.of(9, 5, 7, 1), 2); // 7
 * ```
 */
export function nth<K extends KeyArray>(
  keys: K,
  k: number,
  options?: NthOptions,
): Promise<ReducedKeys<K, 'min'>>;
export function nth<K extends KeyArray>(keys: K, k: readonly number[], options?: NthOptions): Promise<K>;
export function nth(
  keys: KeyArray,
  k: number | readonly number[],
  options?: NthOptions,
): Promise<number | bigint | KeyArray> {
  return withSorter(options, (sorter: Nth, rest) => sorter.nth(keys, k as never, rest));
}

export const runNth = (
  { calls, arrays }: OperationContext,
  keys: Awaitable<Keys>,
  k: number | readonly number[],
  options?: NthOptions,
): Promise<never> =>
  calls.runWithInputs<never>([keys], (dependency) => {
    const array = dependency.resolveInput(keys);
    const { input, ranks, task } = readSelection(arrays, array, k, options, dependency);
    return arrays.withResults((make) => {
      const list = typeof k === 'number' ? undefined : make.allocateLike(array, input.dtype, ranks.length);
      if (list && ranks.length === 0) return list.result as never;
      return calls.execute<never>(task, async (call) => {
        const bits = await keysAtRanks(call, input, ranks);
        if (!list) return () => keyValue(bits[0] as bigint, input.info) as never;
        const found = columnOfBits(input, bits);
        const at = column('u32', ranks.length, Uint32Array.from(ranks.keys()));
        const [from, positions] = [await call.bindInput(found), await call.bindInput(at)];
        const to = column(input.dtype, ranks.length, list.place);
        await call.bindOutput(to, (out) => call.columns.kernels.gather(from, positions, out));
        return () => list.result as never;
      });
    });
  });

/** Validates the arguments of `nth` or `argpartition`. */
export function readSelection(
  arrays: ArrayStore,
  array: Keys,
  k: number | readonly number[],
  options: NthOptions | undefined,
  dependency: Dependency,
) {
  const settings = parseNth(options);
  const input = readKeys(arrays, array, settings);
  assertIndexable(input.n);
  const task = taskOf('topK', input, settings, array, dependency);
  return { input, ranks: readRanks(k, input.n), task };
}

/** Validates the options of `nth` and similar operations. */
export function parseNth(options: NthOptions | undefined): SortSettings {
  const { nan, ...rest } = requireOptionsObject(options);
  return { ...parseChecked(rest), nan: parseOrder({ descending: undefined, nan }).nan };
}

/** @throws UsageError when one is not a whole number below n */
function readRanks(k: number | readonly number[], n: number): readonly number[] {
  const all = typeof k === 'number' ? [k] : k;
  if (!Array.isArray(all)) throw invalidArgument('k', 'a whole number or an array of them', k);
  for (const one of all) {
    if (Number.isInteger(one) && one >= 0 && one < n) continue;
    throw invalidArgument('k', `whole numbers below the number of keys (${n})`, one);
  }
  return all;
}
