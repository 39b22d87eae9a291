import type { Dtype } from '../keys/dtype.js';
import { MismatchError } from '../util/errors.js';

/** One array as a line: its name and its values. */
export interface Line {
  readonly name: string;
  readonly values: readonly string[];
}

/** What one pass, phase or step of a sort did. */
export interface Step {
  readonly title: string;
  /** Kernels that did it. */
  readonly kernels: readonly string[];
  /** The arrays, in the order in which they came about; the first is the keys before, the last those after. */
  readonly lines: readonly Line[];
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Place that the key at each place of `before` took. */
  readonly newIndex: readonly number[];
}

/** A sort, walked through. Every number was read back from the device and agrees with the model. */
export interface Explanation {
  readonly schema: 'clsort.explain/1';
  readonly algorithm: string;
  readonly device: string;
  readonly dtype: Dtype;
  readonly descending: boolean;
  readonly bits: readonly [begin: number, end: number];
  readonly keys: readonly string[];
  readonly sorted: readonly string[];
  readonly steps: readonly Step[];
}

/** @throws MismatchError when what the device wrote is not what the model says */
export function agree<T extends number | bigint>(
  what: string,
  device: readonly T[],
  model: readonly T[],
): readonly T[] {
  const at = model.findIndex((value, i) => device[i] !== value);
  if (at >= 0 || device.length !== model.length) {
    throw new MismatchError(
      `${what}: the device wrote ${device[at]} at ${at} (${device.length} values), the model says ${model[at]} (${model.length} values)`,
      { details: { what, device: device.map(String), model: model.map(String) } },
    );
  }
  return device;
}

export const line = (name: string, values: readonly (string | number | bigint)[]): Line => ({
  name,
  values: values.map(String),
});
