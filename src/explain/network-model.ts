/** The keys and positions that a sorting network moves. */
import { windowOf } from './record.js';

export interface Elements {
  readonly codes: bigint[];
  readonly ids: number[];
}

/** The smaller key goes to the first position. */
export type Comparator = readonly [low: number, high: number];

/** The comparators of one step of a network. */
export interface NetworkStep {
  readonly title: string;
  readonly comparators: readonly Comparator[];
}

/**
 * Returns whether a comparator exchanges its elements.
 *
 * @param ties whether equal keys are ordered by their positions
 */
export function exchanges(
  { codes, ids }: Elements,
  [low, high]: Comparator,
  bits: readonly [number, number],
  ties: boolean,
): boolean {
  const [x, y] = [windowOf(codes[low] ?? 0n, bits), windowOf(codes[high] ?? 0n, bits)];
  return x > y || (x === y && ties && (ids[low] ?? 0) > (ids[high] ?? 0));
}

export function afterStep(
  before: Elements,
  comparators: readonly Comparator[],
  bits: readonly [number, number],
  ties: boolean,
): Elements {
  const after = { codes: [...before.codes], ids: [...before.ids] };
  for (const [low, high] of comparators) {
    if (!exchanges(before, [low, high], bits, ties)) continue;
    for (const array of [after.codes, after.ids] as unknown[][]) {
      [array[low], array[high]] = [array[high], array[low]];
    }
  }
  return after;
}

const places = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/** Returns the flip form for any n: merging begins with a mirror step, and all comparators have the same direction. */
export function flipNetwork(n: number): NetworkStep[] {
  const steps: NetworkStep[] = [];
  for (let size = 2; size < 2 * n; size *= 2) {
    const mirror = (i: number) => i - (i % size) + size - 1 - (i % size);
    const add = (title: string, partner: (i: number) => number) => {
      const comparators = places(n)
        .map((i) => [i, partner(i)] as const)
        .filter(([a, b]) => a < b && b < n);
      steps.push({ title, comparators });
    };
    add(`blocks of ${size}: mirror`, mirror);
    for (let stride = size / 4; stride >= 1; stride /= 2) {
      add(`blocks of ${size}: distance ${stride}`, (i) => (i & stride ? i - stride : i + stride));
    }
  }
  return steps;
}

/** Returns the textbook's form for powers of two: blocks alternate between ascending and descending. */
export function alternatingNetwork(n: number): (NetworkStep & { size: number; stride: number })[] {
  const steps: (NetworkStep & { size: number; stride: number })[] = [];
  for (let size = 2; size <= n; size *= 2) {
    for (let stride = size / 2; stride >= 1; stride /= 2) {
      const comparators = places(n)
        .filter((i) => (i & stride) === 0)
        .map((i): Comparator => ((i & size) === 0 ? [i, i + stride] : [i + stride, i]));
      steps.push({ title: `blocks of ${size}: distance ${stride}`, comparators, size, stride });
    }
  }
  return steps;
}

/** Returns odd-even transposition: n phases that compare neighbours. */
export const oddEvenNetwork = (n: number): NetworkStep[] =>
  places(n).map((phase) => {
    const first = phase % 2;
    const comparators = Array.from({ length: Math.max(0, Math.floor((n - first) / 2)) }, (_, k) => {
      const lower = 2 * k + first;
      return [lower, lower + 1] as const;
    });
    return {
      title: `phase ${phase}: ${first === 0 ? 'even' : 'odd'} places with their right neighbours`,
      comparators,
    };
  });
