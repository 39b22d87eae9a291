import type { Dtype } from '../keys/dtype.js';
import { MismatchError } from '../util/errors.js';
import type { Cost } from './cost.js';
import type { SourceMark, SourceText } from './source.js';

/** One array as a line: its name and its values. */
export interface Line {
  readonly name: string;
  readonly values: readonly string[];
  /** Values that belong together, such as those of a work-group; left out where all do. */
  readonly group?: number;
  /** How many values there are where only some are shown. */
  readonly of?: number;
}

/** A table: the counters of a histogram, or blocks and bins of the AMD pipeline. */
export interface Grid {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly Line[];
}

/** What one pass, phase, level or kernel did. */
export interface Step {
  readonly title: string;
  /** What it is for, in a sentence. */
  readonly note?: string;
  /** Kernels that did it. */
  readonly kernels: readonly string[];
  /** The arrays, in the order in which they came about; the first is the keys before, the last those after. */
  readonly lines: readonly Line[];
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Place that the key at each place of `before` took; empty where nothing moves. */
  readonly newIndex: readonly number[];
  /** Which values of `before` go into which of `after`, where nothing moves. */
  readonly flow?: readonly (readonly [from: number, to: number])[];
  /** Comparators of a network: the smaller key goes to the first place. */
  readonly wires?: readonly (readonly [low: number, high: number])[];
  readonly grids?: readonly Grid[];
  readonly cost: Cost;
  readonly source: SourceMark;
}

/** A sort, a reduction, a scan or a histogram, walked through. Every number was read back from the device and agrees with the model. */
export interface Explanation {
  readonly schema: 'clsort.explain/2';
  readonly algorithm: string;
  /** The step of the ladder, or the form of the network, that was shown; null where there is only one. */
  readonly step: string | null;
  readonly device: string;
  readonly dtype: Dtype;
  readonly descending: boolean;
  readonly bits: readonly [begin: number, end: number];
  readonly n: number;
  /** The keys; of many the first ones. */
  readonly keys: readonly string[];
  /** Keys in order, for sorts. */
  readonly sorted?: readonly string[];
  /** What came out: the keys in order, the sum, the prefix sums or the counts. */
  readonly result: readonly string[];
  readonly steps: readonly Step[];
  /** The kernels that the steps point into. */
  readonly sources: Readonly<Record<string, SourceText>>;
}

/** @throws MismatchError when what the device wrote is not what the model says */
export function agree<T extends number | bigint>(
  what: string,
  device: readonly T[],
  model: readonly T[],
): readonly T[] {
  const at = model.findIndex((value, i) => !Object.is(device[i], value));
  if (at >= 0 || device.length !== model.length) {
    throw new MismatchError(
      `${what}: the device wrote ${device[at]} at ${at} (${device.length} values), the model says ${model[at]} (${model.length} values)`,
      { details: { what, device: device.map(String), model: model.map(String) } },
    );
  }
  return device;
}

/** @param group values that belong together */
export const line = (name: string, values: readonly (string | number | bigint)[], group?: number): Line => ({
  name,
  values: values.map(String),
  ...(group !== undefined && group < values.length && { group }),
});
