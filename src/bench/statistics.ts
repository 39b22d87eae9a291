/** A measured time: the middle of the repetitions and how far they lie from it. */
export interface Timing {
  /** Seconds. */
  readonly median: number;
  /** Median absolute deviation, seconds: unlike a standard deviation, one slow repetition cannot move it. */
  readonly mad: number;
}

const middle = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? Number.NaN) + upper) / 2;
};

/** Median and deviation of repetitions, NaN for none. */
export function timing(seconds: readonly number[]): Timing {
  const median = middle(seconds);
  return { median, mad: middle(seconds.map((value) => Math.abs(value - median))) };
}

/** Changes below this share are never called changes: clocks and caches alone do as much. */
const MIN_CHANGE = 0.05;

/** Deviations that a change must exceed. */
const DEVIATIONS = 3;

/**
 * True when `now` is slower than `before` by more than both runs' noise explains.
 *
 * @param minChange share of the time that a change has to exceed in any case
 */
export function isSlower(before: Timing, now: Timing, minChange: number = MIN_CHANGE): boolean {
  const noise = Math.max(minChange * before.median, DEVIATIONS * Math.hypot(before.mad, now.mad));
  return now.median - before.median > noise;
}
