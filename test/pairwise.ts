import { Random } from '../src/util/random.js';

/**
 * Combinations in which every value of every axis meets every value of every other axis at least once: far fewer than
 * all combinations, and most faults need only two values.
 *
 * Greedy: each combination starts with a pair that is still missing, and takes, axis by axis, the value that covers
 * most of the missing pairs.
 *
 * @param sizes number of values of each axis
 * @param seed decides between equally good values
 */
export function pairwise(sizes: readonly number[], seed: bigint): number[][] {
  const random = new Random(seed);
  const key = (a: number, x: number, b: number, y: number) =>
    a < b ? `${a}:${x} ${b}:${y}` : `${b}:${y} ${a}:${x}`;
  const missing = new Set<string>();
  sizes.forEach((n, a) => {
    for (let b = a + 1; b < sizes.length; b++) {
      for (let x = 0; x < n; x++) for (let y = 0; y < (sizes[b] ?? 0); y++) missing.add(key(a, x, b, y));
    }
  });
  const combinations: number[][] = [];
  for (;;) {
    const [pair] = missing;
    if (pair === undefined) return combinations;
    const chosen = new Map<number, number>();
    for (const part of pair.split(' ')) {
      const [axis, value] = part.split(':').map(Number);
      chosen.set(axis ?? 0, value ?? 0);
    }
    sizes.forEach((n, axis) => {
      if (chosen.has(axis)) return;
      let best = random.below(n);
      let most = -1;
      const start = best;
      for (let i = 0; i < n; i++) {
        const value = (start + i) % n;
        const gain = [...chosen].filter(([other, its]) => missing.has(key(axis, value, other, its))).length;
        if (gain > most) [best, most] = [value, gain];
      }
      chosen.set(axis, best);
    });
    for (const [a, x] of chosen) for (const [b, y] of chosen) if (a < b) missing.delete(key(a, x, b, y));
    combinations.push(sizes.map((_, axis) => chosen.get(axis) ?? 0));
  }
}

/** Whether whole products are tested. */
export const FULL = process.env.CLSORT_TEST_FULL === '1';

/** Combinations of axis values to test: the whole product with CLSORT_TEST_FULL=1, otherwise pairwise. */
export function combinations<A extends readonly (readonly unknown[])[]>(
  axes: A,
  seed = 1n,
): { [I in keyof A]: A[I][number] }[] {
  const sizes = axes.map(({ length }) => length);
  const whole = (): number[][] =>
    sizes.reduce<number[][]>(
      (all, size) => all.flatMap((one) => Array.from({ length: size }, (_, i) => [...one, i])),
      [[]],
    );
  const chosen = FULL ? whole() : pairwise(sizes, seed);
  return chosen.map((one) => one.map((i, axis) => axes[axis]?.[i]) as { [I in keyof A]: A[I][number] });
}
