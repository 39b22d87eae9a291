import type { Column } from './column.js';
import type { Operation } from './operation.js';

/**
 * The distinct keys, sorted, and how often each is there.
 *
 * Keys are compared as numbers: all NaNs are equal, and so are the zeros. Each result is, bit for bit, the
 * first of its equals in the input.
 *
 * @param make makes the columns of the results, once their length is known; counts are u32
 */
export async function unique<R extends { readonly keys: Column; readonly counts: Column }>(
  operation: Operation,
  keys: Column,
  make: (distinct: number) => R,
): Promise<R> {
  const { n, dtype } = keys;
  const { steps } = operation;
  const input = await operation.bring(keys);
  const canonical = operation.temporary(dtype, n);
  await steps.canonical(input, canonical);
  const sorted = operation.temporary(dtype, n);
  const positions = operation.temporary('u32', n);
  await operation.sort({ keys: canonical, sorted: sorted.place, moved: positions.place });
  const firsts = operation.temporary('u32', n);
  const places = operation.temporary('u32', n);
  const distinct = await steps.distinct(sorted, positions, { firsts, places });
  const result = make(distinct);
  await operation.into(result.keys, (to) => steps.gather(input, firsts, to));
  await operation.into(result.counts, (to) => steps.counts(places, n, to));
  return result;
}
