import type { KeyArray } from '../../../keys/dtype.js';
import type { ColumnSelection } from '../../backend/column-kernels.js';
import type { Keys } from '../../calls/array-store.js';
import type { Call } from '../../calls/call.js';
import { assertIndexable } from '../../model/array-assertions.js';
import { type Column, column } from '../../model/column.js';
import { type CheckedOptions, type Into, requireOptionsObject } from '../../model/options.js';
import { type Awaitable, assertSeparateOutput, parseChecked, readKeys, taskOf } from '../arguments.js';
import { withSorter } from '../default-sorters.js';
import type { Run } from '../operation.js';
import type { Predicate } from './predicate.js';
import { bindSelection, COMPACT, type Mask, readSelection } from './selection.js';

export interface Partition {
  /**
   * Returns all keys, the selected ones first. Both groups keep their input order.
   *
   * @param keys fewer than 2^32 keys: typed array or device array, or a promise of one
   * @param by mask or predicate, as for `filter`
   * @param options the options of `filter`, and `into`
   * @returns all keys, and the number of selected keys: these are the first `count`
   * @throws the errors of `filter`
   * @example
   * ```ts
   * const { keys, count } = await sorter.partition(prices, { below: 20 });
   * ```
   */
  partition<K extends Keys>(
    keys: Awaitable<K>,
    by: Awaitable<Mask<K>> | Predicate,
    options?: CheckedOptions & Into<K>,
  ): Promise<{ keys: K; count: number }>;
}

/**
 * Returns all keys, the selected ones first. Both groups keep their input order.
 *
 * @param keys typed array of fewer than 2^32 keys
 * @param by mask or predicate, as for `filter`
 * @param options the options of `filter`, and `into`
 * @returns all keys; the first `count` are the selected ones
 * @throws the errors of `filter`
 * @example
 * ```ts
 * const { keys, count } = await partition(prices, { below: 20 });
 * ```
 */
export function partition<K extends KeyArray>(
  keys: K,
  by: Uint8Array | Predicate,
  options?: CheckedOptions & Into<K>,
): Promise<{ keys: K; count: number }> {
  return withSorter(options, (sorter: Partition, rest) =>
    sorter.partition<KeyArray>(keys, by, rest),
  ) as Promise<{
    keys: K;
    count: number;
  }>;
}

export const runPartition: Run<Partition> = ({ calls, arrays }, keys, by, options) =>
  calls.runWithInputs([keys, by], (dependency) => {
    const { into, ...rest } = requireOptionsObject(options);
    const array = dependency.resolveInput(keys);
    const settings = parseChecked(rest);
    const input = readKeys(arrays, array, settings);
    assertIndexable(input.n);
    assertSeparateOutput(array, into);
    const selection = readSelection(arrays, input, array, dependency.resolveInput<Keys | Predicate>(by));
    return arrays.withResults(async (make) => {
      const partitioned = make.allocateLike(array, input.dtype, input.n, into);
      const to = column(input.dtype, input.n, partitioned.place);
      const task = taskOf('filter', input, settings, array, dependency, into);
      const count = await calls.execute(task, (call) => enqueuePartition(call, input, selection, to));
      return { keys: partitioned.result, count };
    });
  });

/**
 * Copies the selected keys, then the others, both in input order.
 *
 * @returns a function that returns the number of selected keys after the wait
 */
export async function enqueuePartition(
  call: Call,
  keys: Column,
  selection: ColumnSelection,
  to: Column,
): Promise<() => number> {
  if (keys.n === 0) return () => 0;
  const by = await bindSelection(call, selection);
  const input = await call.bindInput(keys);
  let selected = () => 0;
  call.prepareVerify(keys.dtype, (verifier, none) => verifier.compact(none, by, none, true, selected));
  await call.bindOutput(to, async (out) => {
    selected = await call.columns.kernels.run(COMPACT, input, by, out, true);
    await call.verify((verifier) => verifier.compact(input, by, out, true, selected));
  });
  return () => selected();
}
