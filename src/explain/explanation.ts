import type { Dtype } from '../keys/dtype.js';
import { MismatchError } from '../util/errors.js';
import type { Cost } from './cost.js';
import type { SourceMark, SourceText } from './source.js';

/** One array, shown as a line: its name and its values. */
export interface Line {
  readonly name: string;
  readonly values: readonly string[];
  /** Number of consecutive values that form a group, such as those of a work-group; absent for a single group. */
  readonly group?: number;
  /** Total number of values, when only some are shown. */
  readonly of?: number;
}

/** A table, such as the counters of a histogram, or blocks and bins of the AMD pipeline. */
export interface Grid {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly Line[];
}

/** The effect of one pass, phase, level or kernel. */
export interface Step {
  readonly title: string;
  /** The purpose of the step, in one sentence. */
  readonly note?: string;
  /** Kernels that performed it. */
  readonly kernels: readonly string[];
  /** The arrays in the order in which they are computed; the first holds the keys before, the last those after. */
  readonly lines: readonly Line[];
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** New position of the key at each position of `before`; empty when no key moves. */
  readonly newIndex: readonly number[];
  /** Which values of `before` contribute to which of `after`, when no key moves. */
  readonly flow?: readonly (readonly [from: number, to: number])[];
  /** Comparators of a network: the smaller key goes to the first position. */
  readonly wires?: readonly (readonly [low: number, high: number])[];
  readonly grids?: readonly Grid[];
  readonly cost: Cost;
  readonly source: SourceMark;
}

/**
 * A step-by-step explanation of a sort, a reduction, a scan or a histogram. Every number was read back from the device
 * and agrees with the model.
 */
export interface Explanation {
  readonly schema: 'clsort.explain/2';
  readonly algorithm: string;
  /** The explained step of a ladder or form of a network; null when there is only one. */
  readonly step: string | null;
  readonly device: string;
  readonly dtype: Dtype;
  readonly descending: boolean;
  readonly bits: readonly [begin: number, end: number];
  readonly n: number;
  /** The keys, or the first of them when there are many. */
  readonly keys: readonly string[];
  /** The sorted keys; only for sorts. */
  readonly sorted?: readonly string[];
  /** The result: the sorted keys, the sum, the prefix sums or the counts. */
  readonly result: readonly string[];
  readonly steps: readonly Step[];
  /** Source text of the kernels that the steps refer to. */
  readonly sources: Readonly<Record<string, SourceText>>;
}

/**
 * Compares values that the device wrote with those of the model.
 *
 * @returns the values of the device
 * @throws MismatchError when they differ
 */
export function agree<T extends number | bigint>(
  what: string,
  device: readonly T[],
  model: readonly T[],
): readonly T[] {
  const at = model.findIndex((value, i) => !Object.is(device[i], value));
  if (at >= 0 || device.length !== model.length) {
    throw new MismatchError(
      `cannot verify ${what}: value ${at} of ${device.length} from the device is ${device[at]}, but that of ${model.length} from the model is ${model[at]}`,
      { details: { what, device: device.map(String), model: model.map(String) } },
    );
  }
  return device;
}

/**
 * Creates a line.
 *
 * @param group number of consecutive values that form a group
 */
export const line = (name: string, values: readonly (string | number | bigint)[], group?: number): Line => ({
  name,
  values: values.map(String),
  ...(group !== undefined && group < values.length && { group }),
});
