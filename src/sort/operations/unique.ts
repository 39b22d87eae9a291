import { keyCodec } from '../../keys/key-codec.js';
import type { Column } from '../backend/column.js';
import type { Call } from '../calls/call.js';

/**
 * The distinct keys, sorted, and how often each is there.
 *
 * Keys are compared as numbers: all NaNs are equal, and so are the zeros. Each result is, bit for bit, the
 * first of its equals in the input.
 *
 * @param make makes the columns of the results, once their length is known; counts are u32
 */
export async function unique<R extends { readonly keys: Column; readonly counts: Column }>(
  call: Call,
  keys: Column,
  make: (distinct: number) => R,
): Promise<R> {
  const { steps } = call.columns;
  const { input, firsts, places, distinct } = await groupEqual(call, keys);
  await call.settle();
  const result = make(distinct());
  await call.into(result.keys, async (found) => {
    await steps.gather(input, firsts, found);
    await call.into(result.counts, async (counts) => {
      await steps.counts(places, keys.n, counts);
      const codec = keyCodec(keys.dtype, call.settings);
      await call.verify((checks) => checks.unique(input, found, counts, codec));
    });
  });
  return result;
}

/** Sorts keys by their numbers and enqueues where each run of equals begins. @returns also the keys where steps can read them */
export async function groupEqual(call: Call, keys: Column) {
  const { n, dtype } = keys;
  const { columns } = call;
  const { steps } = columns;
  const input = await call.bring(keys);
  const canonical = columns.temporary(dtype, n);
  await steps.canonical(input, canonical);
  const sorted = columns.temporary(dtype, n);
  const positions = columns.temporary('u32', n);
  const { origin } = input;
  await call.sort({ keys: { ...canonical, origin }, sorted: sorted.place, moved: positions.place });
  const firsts = columns.temporary('u32', n);
  const places = columns.temporary('u32', n);
  const distinct = await steps.distinct(sorted, positions, { firsts, places });
  return { input, positions, firsts, places, distinct };
}
