/** Operations on sorted keys. */
import { keyCodec, type Order } from '../../keys/key-codec.js';
import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import type { Call } from '../calls/call.js';
import type { Column } from '../model/column.js';
import { bringAll } from './column-primitives.js';

/**
 * Returns the insertion point of each key: how many of `sorted` come before it. With `right`, equal keys count as well.
 *
 * @param places receives the insertion points; u32
 */
export function searchSorted(
  call: Call,
  sorted: Column,
  keys: Column,
  { right, ...order }: Order & { readonly right: boolean },
  places: Column,
): MaybePromise<void> {
  if (keys.n === 0) return undefined;
  const { kernels } = call.columns;
  const search = { codec: keyCodec(keys.dtype, order), right };
  return chain(bringAll(call, [sorted, keys]), ([sortedInput, input]) =>
    call.bindOutput(places, (out) =>
      kernels.searchSorted(sortedInput as Column, input as Column, search, out),
    ),
  );
}

/** Merges two sorted columns. Of equal keys those of `a` come first. */
export async function merge(call: Call, a: Column, b: Column, order: Order, to: Column): Promise<void> {
  if (to.n === 0) return;
  const [first, second] = [await call.bindInput(a), await call.bindInput(b)];
  await call.bindOutput(to, (out) =>
    call.columns.kernels.merge(first, second, keyCodec(a.dtype, order), out),
  );
}
