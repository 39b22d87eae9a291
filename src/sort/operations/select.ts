import type { ColumnSelection } from '../backend/column-kernels.js';
import type { Call } from '../calls/call.js';
import type { Column } from '../model/column.js';

/** Binds the mask of a selection as an input of kernels. */
async function bringSelection(call: Call, selection: ColumnSelection): Promise<ColumnSelection> {
  return 'mask' in selection ? { mask: await call.bindInput(selection.mask) } : selection;
}

/**
 * Copies the selected keys in input order.
 *
 * @param keys at least one
 * @param make creates the result column once its length is known
 */
export async function filter<R extends { readonly keys: Column }>(
  call: Call,
  keys: Column,
  selection: ColumnSelection,
  make: (selected: number) => R,
): Promise<R> {
  const { columns } = call;
  const by = await bringSelection(call, selection);
  const input = await call.bindInput(keys);
  const all = columns.temporary(keys.dtype, keys.n);
  const selected = await columns.kernels.compact(input, by, all, false);
  await call.settle();
  const result = make(selected());
  await call.verify((verifier) => verifier.compact(input, by, { ...all, n: result.keys.n }, false, selected));
  if (result.keys.n > 0) await call.copy(all, result.keys);
  return result;
}

/**
 * Copies the selected keys, then the others, both in input order.
 *
 * @returns a function that returns the number of selected keys after the wait
 */
export async function partition(
  call: Call,
  keys: Column,
  selection: ColumnSelection,
  to: Column,
): Promise<() => number> {
  if (keys.n === 0) return () => 0;
  const by = await bringSelection(call, selection);
  const input = await call.bindInput(keys);
  let selected = () => 0;
  await call.bindOutput(to, async (out) => {
    selected = await call.columns.kernels.compact(input, by, out, true);
    await call.verify((verifier) => verifier.compact(input, by, out, true, selected));
  });
  return () => selected();
}
