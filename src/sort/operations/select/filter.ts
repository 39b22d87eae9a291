import type { KeyArray } from '../../../keys/dtype.js';
import type { ColumnSelection } from '../../backend/column-kernels.js';
import type { Keys } from '../../calls/array-store.js';
import type { Call } from '../../calls/call.js';
import { assertIndexable } from '../../model/array-assertions.js';
import { type Column, column } from '../../model/column.js';
import type { CheckedOptions } from '../../model/options.js';
import { type Awaitable, parseChecked, readKeys, taskOf } from '../arguments.js';
import { withSorter } from '../default-sorters.js';
import type { Run } from '../operation.js';
import type { Predicate } from './predicate.js';
import { bindSelection, COMPACT, type Mask, readSelection } from './selection.js';

export interface Filter {
  /**
   * Returns the selected keys in input order: those whose byte of the mask is not 0, or those that satisfy a predicate.
   *
   * Source: compaction by a scan with decoupled look-back, D. Merrill, M. Garland (2016). Complexity: O(n).
   *
   *     await sorter.filter(prices, { from: 10, below: 20 });
   *
   * @param keys fewer than 2^32 keys: typed array or device array, or a promise of one
   * @param by mask of one byte (u8) for each key, where the keys are; or a condition on the keys, see `Predicate`
   * @param options `verify` (default `false`), `dtype`, `signal`, `timeout` and `onWarning`
   * @returns the selected keys, in an array of the type of `keys`
   * @throws InputError when the mask does not fit
   * @throws UnsupportedError for 2^32 keys or more
   * @throws the other errors of `sort`
   */
  filter<K extends Keys>(
    keys: Awaitable<K>,
    by: Awaitable<Mask<K>> | Predicate,
    options?: CheckedOptions,
  ): Promise<K>;
}

/**
 * Returns the keys that a predicate or a mask selects, in input order.
 *
 *     await filter(prices, { from: 10, below: 20 });
 *
 * @param keys typed array of fewer than 2^32 keys
 * @param by mask of one byte for each key, which selects the keys whose byte is not 0; or a condition on the keys
 * @param options `verify` (default `false`), `device` (default `'auto'`), `devices`, `dtype`, `signal`, `timeout` and
 *   `onWarning`
 * @returns the selected keys, in an array of the type of `keys`
 * @throws InputError when the mask does not fit
 * @throws UnsupportedError for 2^32 keys or more
 * @throws the other errors of `sort`
 */
export function filter<K extends KeyArray>(
  keys: K,
  by: Uint8Array | Predicate,
  options?: CheckedOptions,
): Promise<K> {
  return withSorter(options, (sorter: Filter, rest) => sorter.filter<KeyArray>(keys, by, rest)) as Promise<K>;
}

export const runFilter: Run<Filter> = ({ calls, arrays }, keys, by, options) =>
  calls.runWithInputs([keys, by], (dependency) => {
    const array = dependency.resolveInput(keys);
    const settings = parseChecked(options);
    const input = readKeys(arrays, array, settings);
    assertIndexable(input.n);
    const selection = readSelection(arrays, input, array, dependency.resolveInput<Keys | Predicate>(by));
    return arrays.withResults((make) => {
      const results = (selected: number) => {
        const found = make.allocateLike(array, input.dtype, selected);
        return { keys: column(input.dtype, selected, found.place), result: found.result };
      };
      if (input.n === 0) return results(0).result;
      return calls.execute(taskOf('filter', input, settings, array, dependency), async (call) => {
        const { result } = await enqueueFilter(call, input, selection, results);
        return () => result;
      });
    });
  });

/**
 * Copies the selected keys in input order.
 *
 * @param keys at least one
 * @param make creates the result column once its length is known
 */
export async function enqueueFilter<R extends { readonly keys: Column }>(
  call: Call,
  keys: Column,
  selection: ColumnSelection,
  make: (selected: number) => R,
): Promise<R> {
  const { columns } = call;
  const by = await bindSelection(call, selection);
  const input = await call.bindInput(keys);
  const all = columns.temporary(keys.dtype, keys.n);
  call.prepareVerify(keys.dtype, (verifier, none) => verifier.compact(none, by, none, false, () => 0));
  const selected = await columns.kernels.run(COMPACT, input, by, all, false);
  await call.settle();
  const result = make(selected());
  await call.verify((verifier) => verifier.compact(input, by, { ...all, n: result.keys.n }, false, selected));
  if (result.keys.n > 0) await call.copy(all, result.keys);
  return result;
}
