/** What one pass of the merge sort must do: ranks in the other run, places, and where tiles are cut. */

/** Who merges runs of a length. */
export type Regime = 'pairs' | 'local' | 'split';

/** @param short runs up to this are merged by single work-items @param tile keys that a group merges */
export const regimeOf = (width: number, short: number, tile: number): Regime =>
  width <= short ? 'pairs' : 2 * width <= tile ? 'local' : 'split';

/**
 * @param keys what is compared, in runs of `width` that are in order
 * @returns for each key how many of the other run of its pair stand before it, and its place
 */
export function mergeModel(
  keys: readonly bigint[],
  width: number,
): { readonly ranks: number[]; readonly places: number[] } {
  const n = keys.length;
  const ranks = keys.map((key, i) => {
    const base = i - (i % (2 * width));
    const middle = Math.min(base + width, n);
    const isLeft = i < middle;
    const other = isLeft ? keys.slice(middle, Math.min(base + 2 * width, n)) : keys.slice(base, middle);
    // Of equal keys the left one goes first.
    return other.filter((one) => (isLeft ? one < key : one <= key)).length;
  });
  const places = ranks.map((rank, i) => {
    const base = i - (i % (2 * width));
    const middle = Math.min(base + width, n);
    return (i < middle ? i : base + (i - middle)) + rank;
  });
  return { ranks, places };
}

/** For each tile of the output, how many keys of its pair's left run stand before it. */
export function splitsModel(places: readonly number[], width: number, tile: number): number[] {
  const n = places.length;
  return Array.from({ length: Math.ceil(n / tile) }, (_, t) => {
    const first = t * tile;
    const base = first - (first % (2 * width));
    const left = places.slice(base, Math.min(base + width, n));
    return left.filter((place) => place < first).length;
  });
}
