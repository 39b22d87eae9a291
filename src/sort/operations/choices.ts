import type { Column } from '../backend/column.js';
import type { Call } from '../calls/call.js';
import type { ColumnChoice } from './column-steps.js';

/** The choice where steps can read it. */
async function brought(call: Call, choice: ColumnChoice): Promise<ColumnChoice> {
  return 'mask' in choice ? { mask: await call.bindInput(choice.mask) } : choice;
}

/**
 * The chosen keys, in input order.
 *
 * @param keys at least one
 * @param make makes the column of the result, once its length is known
 */
export async function filter<R extends { readonly keys: Column }>(
  call: Call,
  keys: Column,
  choice: ColumnChoice,
  make: (chosen: number) => R,
): Promise<R> {
  const { columns } = call;
  const by = await brought(call, choice);
  const input = await call.bindInput(keys);
  const all = columns.temporary(keys.dtype, keys.n);
  const chosen = await columns.kernels.compact(input, by, all, false);
  await call.settle();
  const result = make(chosen());
  await call.verify((checks) => checks.compact(input, by, { ...all, n: result.keys.n }, false, chosen));
  if (result.keys.n > 0) await call.copy(all, result.keys);
  return result;
}

/** The chosen keys and behind them the others, both in input order. @returns how many are chosen, to be asked after the wait */
export async function partition(
  call: Call,
  keys: Column,
  choice: ColumnChoice,
  to: Column,
): Promise<() => number> {
  if (keys.n === 0) return () => 0;
  const by = await brought(call, choice);
  const input = await call.bindInput(keys);
  let chosen = () => 0;
  await call.bindOutput(to, async (out) => {
    chosen = await call.columns.kernels.compact(input, by, out, true);
    await call.verify((checks) => checks.compact(input, by, out, true, chosen));
  });
  return () => chosen();
}
