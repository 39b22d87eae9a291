/** The expected result of one pass of the merge sort: ranks in the other run, positions, and the splits of tiles. */

/** How runs of a length are merged: pairs by work-items, in local memory, or split into tiles. */
export type Regime = 'pairs' | 'local' | 'split';

/**
 * Returns the regime for runs of `width` keys.
 *
 * @param short longest runs that single work-items merge
 * @param tile number of keys that a work-group merges
 */
export const regimeOf = (width: number, short: number, tile: number): Regime =>
  width <= short ? 'pairs' : 2 * width <= tile ? 'local' : 'split';

/**
 * Computes the ranks and positions of keys in a merge pass.
 *
 * @param keys the compared values, in sorted runs of `width`
 * @returns for each key, how many keys of the other run of its pair precede it, and its new position
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
    // Of equal keys, the left one goes first.
    return other.filter((one) => (isLeft ? one < key : one <= key)).length;
  });
  const places = ranks.map((rank, i) => {
    const base = i - (i % (2 * width));
    const middle = Math.min(base + width, n);
    return (i < middle ? i : base + (i - middle)) + rank;
  });
  return { ranks, places };
}

/** Returns for each tile of the output how many keys of its pair's left run precede it. */
export function splitsModel(places: readonly number[], width: number, tile: number): number[] {
  const n = places.length;
  return Array.from({ length: Math.ceil(n / tile) }, (_, t) => {
    const first = t * tile;
    const base = first - (first % (2 * width));
    const left = places.slice(base, Math.min(base + width, n));
    return left.filter((place) => place < first).length;
  });
}
