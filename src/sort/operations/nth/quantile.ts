import type { KeyArray } from '../../../keys/dtype.js';
import { keyValue } from '../../../keys/value.js';
import { InputError } from '../../../util/errors.js';
import { invalidArgument } from '../../../util/invalid-argument.js';
import type { Keys } from '../../calls/array-store.js';
import { assertIndexable } from '../../model/array-assertions.js';
import { requireOptionsObject } from '../../model/options.js';
import { type Awaitable, assertOneOf, readKeys, taskOf } from '../arguments.js';
import { withSorter } from '../default-sorters.js';
import type { OperationContext, Run } from '../operation.js';
import { type NthOptions, parseNth } from './nth.js';
import { keysAtRanks } from './ranks.js';

/** Two neighbours in the order, and the weight of the second. */
interface Between {
  readonly low: number;
  readonly high: number;
  readonly weight: number;
}

const between = (low: number, high = low, weight = 0): Between => ({ low, high, weight });

/** Where a quantile is, by its exact place in the order. */
const INTERPOLATIONS = {
  linear: (place: number) => between(Math.floor(place), Math.ceil(place), place % 1),
  lower: (place: number) => between(Math.floor(place)),
  higher: (place: number) => between(Math.ceil(place)),
  nearest: (place: number) => between(roundToEven(place)),
  midpoint: (place: number) => between(Math.floor(place), Math.ceil(place), place % 1 === 0 ? 0 : 0.5),
} as const;

const roundToEven = (place: number): number =>
  place % 1 === 0.5 ? 2 * Math.round(place / 2) : Math.round(place);

/** Options of `quantile`. */
export type QuantileOptions = NthOptions & {
  /**
   * Result for a quantile between two keys: on the line between them (`linear`), one of them (`lower`, `higher`,
   * `nearest`), or their mean (`midpoint`), as in NumPy.
   *
   * @defaultValue `'linear'`
   */
  readonly interpolation?: keyof typeof INTERPOLATIONS;
};

export interface Quantile {
  /**
   * Returns a quantile of the keys: quantile `q` is at place `q * (n - 1)` of the ascending order.
   *
   * NaNs are keys like others, at the end of the order that `nan` names. A quantile with a NaN as a neighbour is NaN.
   * Between a finite and an infinite key it is infinite, and between two infinities of different sign NaN.
   * Results are computed as doubles. The selection is that of `nth`.
   *
   * @param keys fewer than 2^32 keys, at least one: typed array or device array, or a promise of one
   * @param q number from 0 to 1; or several
   * @param options `interpolation` (default `'linear'`), `nan` (default `'last'`), `verify` (default `false`), `dtype`,
   *   `signal`, `timeout` and `onWarning`
   * @returns a number; for several quantiles, a Float64Array
   * @throws UsageError when `q` is not a number from 0 to 1
   * @throws InputError when there are no keys
   * @throws UnsupportedError for 2^32 keys or more
   * @throws the other errors of `sort`
   * @example
   * ```ts
   * const [low, high] = await sorter.quantile(Uint8Array.of(9, 5, 7, 1), [0.25, 0.75]); // 4 and 7.5
   * ```
   */
  quantile<Q extends number | readonly number[]>(
    keys: Awaitable<Keys>,
    q: Q,
    options?: QuantileOptions,
  ): Promise<Q extends number ? number : Float64Array>;
}

export interface Median {
  /**
   * Returns the median of the keys: `quantile(keys, 0.5)`.
   *
   * @param keys fewer than 2^32 keys, at least one: typed array or device array, or a promise of one
   * @param options the options of `quantile`
   * @returns a number
   * @throws the errors of `quantile`
   * @example
   * ```ts
   * const median = await sorter.median(Uint8Array.of(9, 5, 7, 1)); // 6
   * ```
   */
  median(keys: Awaitable<Keys>, options?: QuantileOptions): Promise<number>;
}

/**
 * Returns a quantile of the keys: quantile `q` is at place `q * (n - 1)` of the ascending order. A
 * quantile with a NaN as a neighbour is NaN.
 *
 * @param keys typed array of fewer than 2^32 keys, at least one
 * @param q number from 0 to 1; or several
 * @param options `interpolation` (default `'linear'`), `nan` (default `'last'`), `verify` (default `false`), `device`
 *   (default `'auto'`), `devices`, `dtype`, `signal`, `timeout` and `onWarning`
 * @returns a number; for several quantiles, a Float64Array
 * @throws UsageError when `q` is not a number from 0 to 1
 * @throws InputError when there are no keys
 * @throws UnsupportedError for 2^32 keys or more
 * @throws the other errors of `sort`
 * @example
 * ```ts
 * const [low, high] = await quantile(Uint8Array.of(9, 5, 7, 1), [0.25, 0.75]); // 4 and 7.5
 * ```
 */
export function quantile<Q extends number | readonly number[]>(
  keys: KeyArray,
  q: Q,
  options?: QuantileOptions,
): Promise<Q extends number ? number : Float64Array> {
  return withSorter(options, (sorter: Quantile, rest) => sorter.quantile(keys, q, rest));
}

/**
 * Returns the median of the keys: `quantile(keys, 0.5)`.
 *
 * @param keys typed array of fewer than 2^32 keys, at least one
 * @param options the options of `quantile`
 * @returns a number
 * @throws the errors of `quantile`
 * @example
 * ```ts
 * const middle = await median(Uint8Array.of(9, 5, 7, 1)); // 6
 * ```
 */
export function median(keys: KeyArray, options?: QuantileOptions): Promise<number> {
  return withSorter(options, (sorter: Median, rest) => sorter.median(keys, rest));
}

export const runQuantile = (
  { calls, arrays }: OperationContext,
  keys: Awaitable<Keys>,
  q: number | readonly number[],
  options?: QuantileOptions,
): Promise<never> =>
  calls.runWithInputs<never>([keys], (dependency) => {
    const array = dependency.resolveInput(keys);
    const { interpolation = 'linear', ...rest } = requireOptionsObject(options);
    assertOneOf('interpolation', Object.keys(INTERPOLATIONS), interpolation);
    const settings = parseNth(rest);
    const input = readKeys(arrays, array, settings);
    assertIndexable(input.n);
    const fractions = typeof q === 'number' ? [q] : q;
    assertFractions(fractions);
    if (input.n === 0)
      throw invalidArgument('keys', 'one key or more', { text: 'none' }, { type: InputError });
    const places = fractions.map((one) => INTERPOLATIONS[interpolation](one * (input.n - 1)));
    const ranks = places.flatMap(({ low, high }) => [low, high]);
    return calls.execute<never>(taskOf('topK', input, settings, array, dependency), async (call) => {
      const bits = await keysAtRanks(call, input, ranks);
      const values = bits.map((one) => keyValue(one, input.info));
      const results = Float64Array.from(places, ({ weight }, i) =>
        interpolate(values[2 * i] as number, values[2 * i + 1] as number, weight),
      );
      return () => (typeof q === 'number' ? results[0] : results) as never;
    });
  });

export const runMedian: Run<Median> = (context, keys, options) => runQuantile(context, keys, 0.5, options);

/** @throws UsageError when one is not a number from 0 to 1 */
function assertFractions(q: readonly number[]): void {
  if (!Array.isArray(q)) throw invalidArgument('q', 'a number or an array of numbers', q);
  for (const one of q) {
    if (!(typeof one === 'number' && one >= 0 && one <= 1)) {
      throw invalidArgument('q', 'numbers from 0 to 1', one);
    }
  }
}

/** Interpolates as NumPy does, from the nearer key, but beside an infinite key, where NumPy returns NaN or the key. */
function interpolate(low: number | bigint, high: number | bigint, weight: number): number {
  if (weight === 0 || low === high) return Number(low);
  const distance = Number((high as number) - (low as number)); // exact for BigInts
  if (!Number.isFinite(distance)) return Number(low) * (1 - weight) + Number(high) * weight;
  return weight < 0.5 ? Number(low) + distance * weight : Number(high) - distance * (1 - weight);
}
