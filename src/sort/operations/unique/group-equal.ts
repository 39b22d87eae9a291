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

/** Sorts the keys by their numbers and enqueues the search for runs of equal keys. Equal integers are identical. */
export async function groupEqual(call: Call, keys: Column): Promise<DistinctKeys> {
  if (keys.info.kind === 'float') return sortAndGroup(call, keys);
  const input = await call.bindInput(keys);
  const sorted = call.columns.temporary(keys.dtype, keys.n);
  await call.sort({ keys: input, sorted: sorted.place });
  return { input, ...(await runsOf(call, sorted)) };
}

/** As `groupEqual`, and returns the input position of each sorted key. Equal floats are sorted by one bit pattern. */
export async function sortAndGroup(
  call: Call,
  keys: Column,
): Promise<DistinctKeys & { readonly positions: Column }> {
  const { columns } = call;
  const { n, dtype } = keys;
  const isFloat = keys.info.kind === 'float';
  const input = await call.bindInput(keys);
  const canonical = isFloat ? { ...columns.temporary(dtype, n), origin: input.origin } : input;
  if (isFloat) await columns.kernels.canonical(input, canonical);
  const sorted = columns.temporary(dtype, n);
  const positions = columns.temporary('u32', n);
  await call.sort({ keys: canonical, sorted: sorted.place, moved: positions.place });
  const runs = await runsOf(call, sorted, isFloat ? { input, positions } : undefined);
  return { input, positions, ...runs };
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
