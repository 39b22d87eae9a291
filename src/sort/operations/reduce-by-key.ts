import { newArray } from '../../keys/array.js';
import type { ReduceOp } from '../../primitives/possible.js';
import type { Call } from '../calls/call.js';
import { type Column, column } from '../model/column.js';
import { sortAndGroup } from './unique.js';

/**
 * Computes the distinct keys in order, and reduces the values of each.
 *
 * Equality, and which of several equal keys is returned, are as in `unique`.
 *
 * @param values as many as keys; at least one
 * @param make creates the result columns once their length is known; `values` has `runsDtype`
 */
export async function reduceByKey<R extends { readonly keys: Column; readonly values: Column }>(
  call: Call,
  keys: Column,
  values: Column,
  op: ReduceOp,
  make: (distinct: number) => R,
): Promise<R> {
  const { columns } = call;
  const { kernels } = columns;
  const { found, positions, places, distinct } = await sortAndGroup(call, keys);
  const inOrder = columns.temporary(values.dtype, keys.n);
  await kernels.gather(await call.bindInput(values), positions, inOrder);
  await call.settle();
  const result = make(distinct());
  await call.copy(found, result.keys);
  if (op === 'sum' && columns.lacksDoubles(values.dtype)) {
    await reduceOnHost(call, inOrder, places, op, result.values);
  } else {
    await call.bindOutput(result.values, (to) => kernels.reduceRuns(inOrder, places, op, to));
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
  await host.kernels.reduceRuns(host.keys, begins, op, reduced);
  await call.copy(reduced, to);
}
