import type { MovedKeys } from '../../backend/column-kernels.js';
import type { Call, LaterSteps } from '../../calls/call.js';
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
 * @param later what the call does next; default nothing that has programs
 */
export async function groupEqual(
  call: Call,
  keys: Column,
  later: LaterSteps = () => [],
): Promise<DistinctKeys> {
  if (keys.info.kind === 'float') return sortAndGroup(call, keys, later);
  const input = await call.bindInput(keys);
  const sorted = call.columns.temporary(keys.dtype, keys.n);
  const sort = { keys: input, sorted: sorted.place };
  await call.prepare(sort, (none) => [runsOf(call, none(keys.dtype)), ...later(none)]);
  await call.sort(sort);
  return { input, ...(await runsOf(call, sorted)) };
}

/** As `groupEqual`, and returns the input position of each sorted key. */
export async function sortAndGroup(
  call: Call,
  keys: Column,
  later: LaterSteps = () => [],
): Promise<DistinctKeys & { readonly positions: Column }> {
  const find = (sorted: Column, input: Column, positions: Column) =>
    runsOf(call, sorted, keys.info.kind === 'float' ? { input, positions } : undefined);
  const { input, sorted, positions } = await sortByNumber(call, keys, (none) => [
    find(none(keys.dtype), none(keys.dtype), none('u32')),
    ...later(none),
  ]);
  return { input, positions, ...(await find(sorted, input, positions)) };
}

/**
 * Sorts the keys by their numbers: equal floats get one bit pattern.
 *
 * @param later what the call does next
 * @returns the bound input, the sorted keys, and the input position of each of them
 */
export async function sortByNumber(
  call: Call,
  keys: Column,
  later: LaterSteps,
): Promise<{ readonly input: Column; readonly sorted: Column; readonly positions: Column }> {
  const { columns } = call;
  const { n, dtype } = keys;
  const isFloat = keys.info.kind === 'float';
  const input = await call.bindInput(keys);
  const canonical = isFloat ? columns.temporary(dtype, n) : input;
  const sorted = columns.temporary(dtype, n);
  const positions = columns.temporary('u32', n);
  const sort = { keys: canonical, sorted: sorted.place, moved: positions.place };
  await call.prepare(sort, (none) => [
    isFloat && columns.kernels.canonical(none(dtype), none(dtype)),
    ...later(none),
  ]);
  if (isFloat) await columns.kernels.canonical(input, canonical);
  await call.sort(sort);
  return { input, sorted, positions };
}

async function runsOf(
  { columns }: Call,
  sorted: Column,
  moved?: MovedKeys,
): Promise<Omit<DistinctKeys, 'input'>> {
  const found = columns.temporary(sorted.dtype, sorted.n);
  const places = columns.temporary('u32', sorted.n);
  const distinct = await columns.kernels.distinct(sorted, { keys: found, places }, moved);
  return { found, places, distinct };
}
