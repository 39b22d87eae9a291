import type { KeyCodec } from '../../keys/key-codec.js';
import type { Binning } from '../../primitives/histogram.js';
import type { ReduceOp } from '../../primitives/possible.js';
import type { Column } from '../backend/column.js';

/**
 * The steps, besides sorts, that operations are made of. On the device they are enqueued only: what they
 * make, and the numbers that they tell, are there after the next wait. Columns have fewer than 2^32 elements.
 */
export interface ColumnSteps {
  /** Equal bits for keys that are equal as numbers: one NaN, +0 for either zero. */
  canonical(from: Column, to: Column): Promise<void>;
  /** `to[i] = from[positions[i]]` for each of `to`; both of the same width. @param positions u32 */
  gather(from: Column, positions: Column, to: Column): Promise<void>;
  /**
   * The same by positions that may be anything; zero bytes where one is not inside.
   *
   * @returns the largest position that is not, if there is one, to be asked after the wait
   */
  gatherChecked(from: Column, positions: Column, to: Column): Promise<() => number | undefined>;
  /** The number of the segment of each element. @param offsets u32: where each segment begins, then n */
  segmentIds(offsets: Column, ids: Column): Promise<void>;
  /** `positions[i] -= offsets[ids[i]]`: counted from the beginning of their segments. All u32. */
  subtractBegins(positions: Column, ids: Column, offsets: Column): Promise<void>;
  /**
   * The distinct keys of a sorted column.
   *
   * @param positions where each key stood in the input
   * @param out `firsts` gets the positions of their first keys, `places` where they begin; u32
   * @returns how many there are, to be asked after the wait
   */
  distinct(
    sorted: Column,
    positions: Column,
    out: { readonly firsts: Column; readonly places: Column },
  ): Promise<() => number>;
  /** How often each of the distinct keys is there. @param n keys in all */
  counts(places: Column, n: number, to: Column): Promise<void>;
  /** The first keys of the order, as many as `to` takes, and their positions, in input order. */
  select(
    keys: Column,
    codec: KeyCodec,
    to: { readonly keys: Column; readonly positions: Column },
  ): Promise<void>;
  /** Sum, minimum or maximum, as `Sorter.reduce` says. */
  reduce(keys: Column, op: ReduceOp): Promise<() => number | bigint>;
  /** Prefix sums; `to` may be `from`. */
  scan(from: Column, to: Column, inclusive: boolean): Promise<void>;
  /** Counts of keys by digit, or between codes in ascending order; the last bin has its upper edge too. */
  histogram(keys: Column, binning: Binning): Promise<() => Uint32Array>;
}
