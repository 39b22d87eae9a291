import { newArray } from '../../../keys/array.js';
import type { KeyArray } from '../../../keys/dtype.js';
import { assertReducible, REDUCE_OPS, type ReduceOp, runsDtype } from '../../../primitives/possible.js';
import { columnKernel } from '../../backend/column-kernel.js';
import { u32Of } from '../../backend/host-column-kernels.js';
import { encodedKeysOf, extremeCodec, operationOf } from '../../backend/native-column-kernels.js';
import type { Keys } from '../../calls/array-store.js';
import type { Call } from '../../calls/call.js';
import { hostReduceRuns } from '../../host/host-select.js';
import { assertIndexable, assertOnePerKey, assertSamePlace } from '../../model/array-assertions.js';
import { type Column, column, hostColumn, wordsOf } from '../../model/column.js';
import type { UniqueOptions } from '../../model/options.js';
import { type Awaitable, assertOneOf, parse, type ReducedValues, readKeys, taskOf } from '../arguments.js';
import { withSorter } from '../default-sorters.js';
import type { Run } from '../operation.js';
import { sortAndGroup } from '../unique/group-equal.js';

export interface ReduceByKey {
  /**
   * Returns the distinct keys in order, and the sum, minimum or maximum of the values of each.
   *
   * Keys are compared as in `unique` and need not be sorted. Values are reduced as in `reduce`. They keep their type,
   * except that sums of integers have 64 bits (u64, i64) and wrap. Complexity: a sort and two launches that read every
   * value once.
   *
   *     const { keys, values } = await sorter.reduceByKey(customers, amounts, 'sum');
   *
   * @param keys fewer than 2^32 keys: typed array or device array, or a promise of one
   * @param values one value for each key, in the same place
   * @param op `'sum'`, `'min'` or `'max'`
   * @param options the options of `unique`
   * @returns distinct keys, and one reduced value for each, in an array of the type of `values`; for sums of integers of
   *   u64 or i64
   * @throws InputError when the lengths differ
   * @throws UnsupportedError for sums of f16 and bf16
   * @throws the other errors of `unique`
   */
  reduceByKey<K extends Keys, V extends Keys, O extends ReduceOp>(
    keys: Awaitable<K>,
    values: Awaitable<V>,
    op: O,
    options?: UniqueOptions,
  ): Promise<{ keys: K; values: ReducedValues<V, O> }>;
}

/**
 * Returns the distinct keys in order, and the sum, minimum or maximum of the values of each. Values keep their type,
 * except that sums of integers have 64 bits (u64, i64) and wrap.
 *
 *     const { keys, values } = await reduceByKey(customers, amounts, 'sum');
 *
 * @param keys typed array of fewer than 2^32 keys, in any order
 * @param values typed array of one value for each key
 * @param op `'sum'`, `'min'` or `'max'`
 * @param options the options of `unique`
 * @returns distinct keys, and one reduced value for each, in an array of the type of `values`; for sums of integers a
 *   BigUint64Array or BigInt64Array
 * @throws InputError when the lengths differ
 * @throws UnsupportedError for sums of f16 and bf16
 * @throws the other errors of `unique`
 */
export function reduceByKey<K extends KeyArray, V extends KeyArray, O extends ReduceOp>(
  keys: K,
  values: V,
  op: O,
  options?: UniqueOptions,
): Promise<{ keys: K; values: ReducedValues<V, O> }> {
  return withSorter(options, (sorter: ReduceByKey, rest) =>
    sorter.reduceByKey<KeyArray, KeyArray, ReduceOp>(keys, values, op, rest),
  ) as Promise<unknown> as Promise<{ keys: K; values: ReducedValues<V, O> }>;
}

export const runReduceByKey: Run<ReduceByKey> = ({ calls, arrays }, keys, values, op, options) =>
  calls.runWithInputs([keys, values], (dependency) => {
    const [array, beside] = [dependency.resolveInput(keys), dependency.resolveInput(values)];
    assertOneOf('op', REDUCE_OPS, op);
    const settings = parse(options, ['bitRange']);
    const input = readKeys(arrays, array, settings);
    assertIndexable(input.n);
    assertSamePlace('keys and values', array, beside);
    const own = readKeys(arrays, beside, {});
    assertReducible(own.dtype, op);
    assertOnePerKey('values', own.n, input.n);
    const dtype = runsDtype(own.dtype, op);
    return arrays.withResults((make) => {
      const results = (distinct: number) => {
        const found = make.allocateLike(array, input.dtype, distinct);
        const reduced =
          dtype === own.dtype
            ? make.allocateLike(beside, dtype, distinct)
            : make.allocateBeside(array, dtype, distinct);
        return {
          keys: column(input.dtype, distinct, found.place),
          values: column(dtype, distinct, reduced.place),
          result: { keys: found.result, values: reduced.result as ReducedValues<Keys, ReduceOp> },
        };
      };
      if (input.n === 0) return results(0).result;
      return calls.execute(taskOf('unique', input, settings, array, dependency), async (call) => {
        const { result } = await enqueueReduceByKey(call, input, own, op, results);
        return () => result;
      });
    });
  });

/**
 * Computes the distinct keys in order, and reduces the values of each.
 *
 * Equality, and which of several equal keys is returned, are as in `unique`.
 *
 * @param values as many as keys; at least one
 * @param make creates the result columns once their length is known; `values` has `runsDtype`
 */
export async function enqueueReduceByKey<R extends { readonly keys: Column; readonly values: Column }>(
  call: Call,
  keys: Column,
  values: Column,
  op: ReduceOp,
  make: (distinct: number) => R,
): Promise<R> {
  const { columns } = call;
  const { kernels } = columns;
  const onHost = op === 'sum' && columns.lacksDoubles(values.dtype);
  const { found, positions, places, distinct } = await sortAndGroup(call, keys, (none) => [
    kernels.gather(none(values.dtype), none('u32'), none(values.dtype)),
    onHost ||
      kernels.run(REDUCE_RUNS, none(values.dtype), none('u32'), op, none(runsDtype(values.dtype, op))),
  ]);
  const inOrder = columns.temporary(values.dtype, keys.n);
  await kernels.gather(await call.bindInput(values), positions, inOrder);
  await call.settle();
  const result = make(distinct());
  await call.copy(found, result.keys);
  if (onHost) {
    await reduceOnHost(call, inOrder, places, op, result.values);
  } else {
    await call.bindOutput(result.values, (to) => kernels.run(REDUCE_RUNS, inOrder, places, op, to));
  }
  return result;
}

async function reduceOnHost(
  call: Call,
  values: Column,
  places: Column,
  op: ReduceOp,
  to: Column,
): Promise<void> {
  const host = await call.fallBackToHost('sum f64', 'fp64', values);
  const begins = column('u32', to.n, newArray('u32', to.n));
  await call.copy(places, begins);
  await call.settle();
  const reduced = column(to.dtype, to.n, newArray(to.dtype, to.n));
  await host.kernels.run(REDUCE_RUNS, host.keys, begins, op, reduced);
  await call.copy(reduced, to);
}

/**
 * Reduces each run of values.
 *
 * @param places where the runs begin, the first one at 0; u32
 * @param to of `runsDtype`, as many as there are runs
 */
export const REDUCE_RUNS = columnKernel({
  host: (values: Column, places: Column, op: ReduceOp, to: Column) =>
    hostReduceRuns(hostColumn(values), u32Of(places).subarray(0, to.n), op, wordsOf(to)),
  native: {
    extent: (values, places, _, to) => [values.n, values, places, to],
    run: (onThreads, values, places, op, to) => {
      assertReducible(values.dtype, op);
      const begins = u32Of(places).subarray(0, to.n);
      const keys = [...encodedKeysOf(values, extremeCodec(values, op)), ...operationOf(values, op)];
      return onThreads('hostReduceRunsAsync', values.n, ...keys, begins, wordsOf(to));
    },
  },
  load: async () => (await import('./device.js')).reduceRunsOnDevice,
});
