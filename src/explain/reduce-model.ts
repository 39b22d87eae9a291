/** The expected contents of local memory after each level of a reduction, and the active work-items. */
import type { ReduceStep } from '../lab/reduce.js';
import type { Arithmetic, Sum } from './arithmetic.js';

/** One addition by a work-item: element `from` is added to element `into`. */
export interface Addition {
  readonly item: number;
  readonly into: number;
  readonly from: number;
}

/** Indices of the elements that each work-item loads. */
export type Loads = readonly (readonly number[])[];

/** One launch: the loads of the work-items, and the local memory of all groups after the loads and after each level. */
export interface LaunchModel {
  readonly loads: Loads;
  readonly rows: readonly (readonly Sum[])[];
  /** Additions of one work-group, by level; the same in all groups. */
  readonly additions: readonly (readonly Addition[])[];
  /** Result of each work-group. */
  readonly results: readonly Sum[];
}

const items = (groupSize: number): number[] => Array.from({ length: groupSize }, (_, i) => i);

/** Returns the additions of each level of a work-group. */
export function additionsOf(step: ReduceStep, groupSize: number): Addition[][] {
  const levels: Addition[][] = [];
  if (step === 'interleaved' || step === 'compacted') {
    for (let distance = 1; distance < groupSize; distance *= 2) {
      const additions = items(groupSize).flatMap((item): Addition[] => {
        const into = step === 'interleaved' ? item : 2 * distance * item;
        const works = step === 'interleaved' ? item % (2 * distance) === 0 : into < groupSize;
        return works ? [{ item, into, from: into + distance }] : [];
      });
      levels.push(additions);
    }
    return levels;
  }
  for (let distance = groupSize / 2; distance >= 1; distance /= 2) {
    levels.push(
      items(groupSize)
        .slice(0, distance)
        .map((item) => ({ item, into: item, from: item + distance })),
    );
  }
  return levels;
}

/**
 * Returns the indices of the keys that the work-items of all groups load.
 *
 * @param perItem number of loads of a work-item: one or two keys, or several partial results
 */
export function loadsOf(groups: number, groupSize: number, perItem: number): Loads {
  return Array.from({ length: groups * groupSize }, (_, at) => {
    const first = Math.floor(at / groupSize) * groupSize * perItem + (at % groupSize);
    return Array.from({ length: perItem }, (_, k) => first + k * groupSize);
  });
}

/**
 * Returns the loads of the `grid` step: four adjacent keys per iteration of a grid-stride loop, and one of the
 * remaining keys.
 */
export function gridLoads(n: number, all: number): Loads {
  const quads = Math.floor(n / 4);
  return Array.from({ length: all }, (_, at) => {
    const own: number[] = [];
    for (let quad = at; quad < quads; quad += all)
      own.push(4 * quad, 4 * quad + 1, 4 * quad + 2, 4 * quad + 3);
    return [...own, 4 * quads + at];
  });
}

/**
 * Adds values in sequence, as a work-item does.
 *
 * @param carry whether to compensate the rounding error (Kahan)
 */
function added(values: readonly Sum[], { identity, combine, minus }: Arithmetic, carry: boolean): Sum {
  if (!carry) return values.reduce((sum, value) => combine(sum, value), identity);
  let [sum, lost]: [Sum, Sum] = [identity, 0];
  for (const value of values) {
    const next = combine(sum, minus(value, lost));
    const isInfinite = next === Number.POSITIVE_INFINITY || next === Number.NEGATIVE_INFINITY;
    lost = isInfinite ? 0 : minus(minus(next, sum), minus(value, lost));
    sum = next;
  }
  return sum;
}

/**
 * Computes the expected state of one launch.
 *
 * @param fold how a work-item adds its loads: `plain` combines them directly, `sum` and `kahan` start from the identity
 */
export function launchModel(
  values: readonly Sum[],
  loads: Loads,
  additions: readonly (readonly Addition[])[],
  {
    groupSize,
    arithmetic,
    fold,
  }: { groupSize: number; arithmetic: Arithmetic; fold: 'plain' | 'sum' | 'kahan' },
): LaunchModel {
  const { identity, combine } = arithmetic;
  const loaded = loads.map((own): Sum => {
    if (fold !== 'plain') {
      const there = own.filter((i) => i < values.length).map((i) => values[i] as Sum);
      return added(there, arithmetic, fold === 'kahan' && arithmetic.rounds);
    }
    return own.map((i) => values[i] ?? identity).reduce((a, b) => combine(a, b));
  });
  const rows: Sum[][] = [loaded];
  for (const level of additions) {
    const last = [...(rows.at(-1) as Sum[])];
    for (let base = 0; base < last.length; base += groupSize) {
      for (const { into, from } of level) {
        last[base + into] = combine(last[base + into] as Sum, last[base + from] as Sum);
      }
    }
    rows.push(last);
  }
  const last = rows.at(-1) as Sum[];
  return { loads, rows, additions, results: last.filter((_, i) => i % groupSize === 0) };
}
