/** The expected counters of a histogram. */
import type { HistogramLab } from '../lab/histogram.js';

export interface HistogramModel {
  /** Counters of each work-group before they are added up, in memory order. */
  readonly counters: readonly (readonly number[])[];
  /** One histogram per work-group. */
  readonly partials: readonly (readonly number[])[];
  readonly counts: readonly number[];
}

const zeros = (count: number): number[] => new Array<number>(count).fill(0);

/**
 * Computes the expected counters.
 *
 * @param digits the bin of each key
 * @param groups number of work-groups; together they traverse the keys in a grid-stride loop
 */
export function histogramModel(
  digits: readonly number[],
  bins: number,
  lab: Pick<HistogramLab, 'groupSize' | 'counterOf' | 'counters'>,
  groups: number,
): HistogramModel {
  const { groupSize } = lab;
  const counters = Array.from({ length: groups }, () => zeros(lab.counters.length));
  const partials = Array.from({ length: groups }, () => zeros(bins));
  const counts = zeros(bins);
  const add = (to: number[] | undefined, at: number) => {
    if (to) to[at] = (to[at] ?? 0) + 1;
  };
  for (const [i, bin] of digits.entries()) {
    const item = i % (groups * groupSize);
    const group = Math.floor(item / groupSize);
    add(counters[group], lab.counterOf(item % groupSize, bin));
    add(partials[group], bin);
    add(counts, bin);
  }
  return { counters, partials, counts };
}
