import type { MaybePromise } from '../../../util/maybe-promise.js';
import type { Call } from '../../calls/call.js';
import type { Column } from '../../model/column.js';

/**
 * The bound input, its distinct keys (the first `distinct()` of `found`), and where their runs begin in sorted order.
 */
interface DistinctKeys {
  readonly input: Column;
  readonly found: Column;
  readonly places: Column;
  readonly distinct: () => number;
  /** Input position of each sorted key; missing if the keys were sorted alone. */
  readonly positions?: Column;
}

/**
 * Sorts the keys by their numbers and enqueues the search for runs of equal keys. Equal integers are identical.
 *
 * @param counts whether the call computes the counts next
 */
export async function groupEqual(call: Call, keys: Column, counts = false): Promise<DistinctKeys> {
  if (keys.info.kind === 'float') return sortAndGroup(call, keys, counts);
  const input = await call.bindInput(keys);
  const sorted = call.columns.temporary(keys.dtype, keys.n);
  const sort = { keys: input, sorted: sorted.place };
  await call.prepare(sort, () => [call.columns.kernels.prepareDistinct(sorted, { moves: false, counts })]);
  await call.sort(sort);
  return { input, ...(await runsOf(call, sorted)) };
}

/** As `groupEqual`, and returns the input position of each sorted key. */
export async function sortAndGroup(
  call: Call,
  keys: Column,
  counts = false,
): Promise<DistinctKeys & { readonly positions: Column }> {
  const isFloat = keys.info.kind === 'float';
  const prepare = (sorted: Column) =>
    call.columns.kernels.prepareDistinct(sorted, { moves: isFloat, counts });
  const { input, sorted, positions } = await sortByNumber(call, keys, prepare);
  const runs = await runsOf(call, sorted, isFloat ? { input, positions } : undefined);
  return { input, positions, ...runs };
}

/**
 * Sorts the keys by their numbers: equal floats get one bit pattern.
 *
 * @param prepare compiles the programs that follow the sort, at the same time as those of the sort
 * @returns the bound input, the sorted keys, and the input position of each of them
 */
export async function sortByNumber(
  call: Call,
  keys: Column,
  prepare?: (sorted: Column) => MaybePromise<unknown>,
): Promise<{ readonly input: Column; readonly sorted: Column; readonly positions: Column }> {
  const { columns } = call;
  const { n, dtype } = keys;
  const isFloat = keys.info.kind === 'float';
  const input = await call.bindInput(keys);
  const canonical = isFloat ? { ...columns.temporary(dtype, n), origin: input.origin } : input;
  const sorted = columns.temporary(dtype, n);
  const positions = columns.temporary('u32', n);
  const sort = { keys: canonical, sorted: sorted.place, moved: positions.place };
  if (prepare) await call.prepare(sort, () => [prepare(sorted)]);
  if (isFloat) await columns.kernels.canonical(input, canonical);
  await call.sort(sort);
  return { input, sorted, positions };
}

async function runsOf(
  { columns }: Call,
  sorted: Column,
  moved?: { readonly input: Column; readonly positions: Column },
): Promise<Omit<DistinctKeys, 'input'>> {
  const found = columns.temporary(sorted.dtype, sorted.n);
  const places = columns.temporary('u32', sorted.n);
  const distinct = await columns.kernels.distinct(sorted, { keys: found, places }, moved);
  return { found, places, distinct };
}
