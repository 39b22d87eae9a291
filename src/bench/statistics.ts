/** A measured time: median and deviation of the repetitions. */
export interface Timing {
  /** Median, in seconds. */
  readonly median: number;
  /**
   * Median absolute deviation, in seconds; unlike a standard deviation, it is robust against a single slow repetition.
   */
  readonly mad: number;
}

const middle = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? Number.NaN) + upper) / 2;
};

/** Returns the median and the deviation of repetitions; NaN for none. */
export function timing(seconds: readonly number[]): Timing {
  const median = middle(seconds);
  return { median, mad: middle(seconds.map((value) => Math.abs(value - median))) };
}

/** Smallest relative change that counts: clocks and caches alone cause smaller ones. */
const MIN_CHANGE = 0.05;

/** Number of deviations that a change must exceed. */
const DEVIATIONS = 3;

/**
 * Returns true when `now` is slower than `before` by more than the noise of both runs.
 *
 * @param minChange smallest change that counts, as a share of the time; default 0.05
 */
export function isSlower(before: Timing, now: Timing, minChange: number = MIN_CHANGE): boolean {
  const noise = Math.max(minChange * before.median, DEVIATIONS * Math.hypot(before.mad, now.mad));
  return now.median - before.median > noise;
}

/**
 * Returns the rows of `now` that are slower than the same case in `before` beyond noise, or that are no longer correct.
 *
 * @param caseOf names the case of a row
 * @param timesOf the times of a row that are compared, in a fixed order
 */
export function slowerRows<Row extends { readonly result: string }>(
  before: readonly Row[],
  now: readonly Row[],
  caseOf: (row: Row) => string,
  timesOf: (row: Row) => readonly (Timing | undefined)[],
): Row[] {
  const known = new Map(before.map((row) => [caseOf(row), row]));
  return now.filter((row) => {
    const old = known.get(caseOf(row));
    if (old?.result !== 'ok') return false;
    if (row.result !== 'ok') return true;
    const times = timesOf(row);
    return timesOf(old).some(
      (was, i) => was !== undefined && times[i] !== undefined && isSlower(was, times[i]),
    );
  });
}
