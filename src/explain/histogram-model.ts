/** What the counters of a histogram must hold. */
import type { HistogramLab } from '../primitives/histogram-lab.js';

export interface HistogramModel {
  /** Counters of each group before they are added up, as they lie in memory. */
  readonly counters: readonly (readonly number[])[];
  /** A histogram for each group. */
  readonly partials: readonly (readonly number[])[];
  readonly counts: readonly number[];
}

const zeros = (count: number): number[] => new Array<number>(count).fill(0);

/** @param digits the bin of each key @param groups work-items of all groups walk over the keys side by side */
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
