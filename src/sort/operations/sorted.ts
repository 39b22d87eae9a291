/** Operations on keys that are in order already. */
import { keyCodec, type Order } from '../../keys/key-codec.js';
import type { Column } from '../backend/column.js';
import type { Call } from '../calls/call.js';

/** How many of `sorted` come before each key: with `right` those that are equal to it, too. @param places u32 */
export async function searchSorted(
  call: Call,
  sorted: Column,
  keys: Column,
  { right, ...order }: Order & { readonly right: boolean },
  places: Column,
): Promise<void> {
  if (keys.n === 0) return;
  const { steps } = call.columns;
  const [among, input] = [await call.bring(sorted), await call.bring(keys)];
  const search = { codec: keyCodec(keys.dtype, order), right };
  await call.into(places, (out) => steps.searchSorted(among, input, search, out));
}

/** Both columns as one; of equal keys those of `a` come first. */
export async function merge(call: Call, a: Column, b: Column, order: Order, to: Column): Promise<void> {
  if (to.n === 0) return;
  const [first, second] = [await call.bring(a), await call.bring(b)];
  await call.into(to, (out) => call.columns.steps.merge(first, second, keyCodec(a.dtype, order), out));
}
