/** Parts of sharded arrays, and results that are combined from those of the parts. */
import { type ArrayOf, keyWords, newArray } from '../../keys/array.js';
import { type Dtype, dtypeInfo } from '../../keys/dtype.js';
import type { ReduceOp } from '../../primitives/possible.js';
import { combineExtremes } from '../host/host-primitives.js';
import { hostSort } from '../host/host-sort.js';
import type { Column, Place } from '../model/column.js';
import type { SortJob } from '../model/job.js';
import type { SortSettings } from '../model/options.js';
import type { PositionDtype } from '../operations/arguments.js';

/** Returns the job of a sort of keys with values, or with positions if there are none. */
export const sortJobOf = (
  keys: Column,
  values: Column | undefined,
  { sorted, moved }: { readonly sorted: Place | undefined; readonly moved: Place | undefined },
  settings: SortSettings,
): SortJob => ({
  keys,
  settings,
  ...(sorted && { sorted }),
  ...(values && { values: { place: values.place, bytes: values.info.bytes } }),
  ...(moved && { moved }),
});

/** Returns the start of each part, followed by the end of the last one. */
export function startsOfParts(columns: readonly Column[]): number[] {
  const starts = [0];
  for (const { n } of columns) starts.push((starts.at(-1) as number) + n);
  return starts;
}

/** Returns the starts of parts in the ratio of the weights, followed by the end of the last one. */
export function startsOf(n: number, weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let before = 0;
  const starts = weights.map((weight) => {
    const start = Math.round((before / total) * n);
    before += weight;
    return start;
  });
  return [...starts, n];
}

/** Combines the results of all parts; sums of floats are added in the order of the parts. */
export function combineResults(
  found: readonly (number | bigint)[],
  op: ReduceOp,
  dtype: Dtype,
): number | bigint {
  const [first, ...others] = found as [number | bigint, ...(number | bigint)[]];
  if (op !== 'sum') return others.reduce((a, b) => combineExtremes(op, a as bigint, b as bigint), first);
  if (typeof first === 'bigint') {
    const sum = others.reduce<bigint>((a, b) => a + BigInt(b), first);
    return dtypeInfo(dtype).kind === 'signed' ? BigInt.asIntN(64, sum) : BigInt.asUintN(64, sum);
  }
  const sum = others.reduce<number>((a, b) => a + Number(b), first);
  return dtype === 'f32' ? Math.fround(sum) : sum;
}

/** Returns the first k of a few keys, with their positions, which are passed along. */
export function firstOf<D extends Dtype>(
  dtype: D,
  { n, info, place }: Column,
  positions: ArrayOf<PositionDtype>,
  k: number,
  { descending, nan, bits }: SortSettings,
): { keys: ArrayOf<D>; indices: ArrayOf<PositionDtype> } {
  const sorted = newArray(dtype, n);
  const moved = positions.slice();
  const keys = { dtype, info, n, view: keyWords(place as ArrayBufferView, info) };
  const values = { place: positions, bytes: positions.BYTES_PER_ELEMENT };
  hostSort(keys, { descending, nan, bits }, { sorted, values, moved });
  return { keys: sorted.slice(0, k) as ArrayOf<D>, indices: moved.slice(0, k) };
}
