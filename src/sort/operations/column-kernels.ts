import type { KeyCodec } from '../../keys/key-codec.js';
import type { CodeRange } from '../../primitives/compact.js';
import type { Binning } from '../../primitives/histogram.js';
import type { ReduceOp, ScanOp } from '../../primitives/possible.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import type { Column } from '../backend/column.js';

/** What says which keys are chosen: bytes that are not 0, one for each key, or codes. */
export type ColumnSelection = { readonly mask: Column } | CodeRange;

/** How keys are looked for. */
export interface Search {
  readonly codec: KeyCodec;
  readonly right: boolean;
}

/** The first keys of each of many short segments, in order. Offsets, begins and positions are u32. */
export interface TopShort {
  readonly keys: Column;
  readonly codec: KeyCodec;
  /** Where segments begin: they rise from 0 to n. Left out for rows, all of as many keys as the longest. */
  readonly offsets: Column | undefined;
  /** No segment has more keys. */
  readonly longest: number;
  /** Keys of each segment at most. */
  readonly k: number;
  /** Where those of each segment go, and at last how many there are; of rows it is made. */
  readonly begins: Column;
  readonly to: { readonly keys: Column; readonly positions: Column };
  /** Positions are counted from the beginning of each segment. */
  readonly fromSegment: boolean;
}

/**
 * The steps, besides sorts, that operations are made of. On the device they are enqueued only: what they
 * make, and the numbers that they tell, are there after the next wait. Columns have fewer than 2^32 elements.
 */
export interface ColumnKernels {
  /** Equal bits for keys that are equal as numbers: one NaN, +0 for either zero. */
  canonical(from: Column, to: Column): MaybePromise<void>;
  /**
   * Puts the codes of keys, canonical ones, at bit `shift` of `to`, a column of u32 or u64. Keys have up to 32 bits.
   *
   * @param first other bits are 0 then, and else as they were
   */
  appendCodes(from: Column, codec: KeyCodec, to: Column, shift: number, first: boolean): MaybePromise<void>;
  /** `to[i] = from[positions[i]]` for each of `to`; both of the same width. @param positions u32 */
  gather(from: Column, positions: Column, to: Column): MaybePromise<void>;
  /**
   * The same of several columns at once, all of as many elements, by positions that may be anything; zero bytes where one
   * is not inside.
   *
   * @returns the largest position that is not, if there is one, to be asked after the wait
   */
  gatherRows(
    from: readonly Column[],
    positions: Column,
    to: readonly Column[],
  ): MaybePromise<() => number | undefined>;
  /** The number of the segment of each element. @param offsets u32: where each segment begins, then n */
  segmentIds(offsets: Column, ids: Column): MaybePromise<void>;
  /** `positions[i] -= offsets[ids[i]]`: counted from the beginning of their segments. All u32. */
  subtractBegins(positions: Column, ids: Column, offsets: Column): MaybePromise<void>;
  /**
   * The distinct keys of a sorted column.
   *
   * @param out room for as many keys as are sorted: `keys` gets the distinct ones, `places` where they begin, u32
   * @param moved gives instead of each the key of `input` that it stands for; `positions` (u32): where each one stood there
   * @returns how many there are, to be asked after the wait
   */
  distinct(
    sorted: Column,
    out: { readonly keys: Column; readonly places: Column },
    moved?: { readonly input: Column; readonly positions: Column },
  ): MaybePromise<() => number>;
  /** How often each of the distinct keys is there. @param n keys in all */
  counts(places: Column, n: number, to: Column): MaybePromise<void>;
  /** The first keys of the order, as many as `to` takes, and their positions, in input order. */
  select(
    keys: Column,
    codec: KeyCodec,
    to: { readonly keys: Column; readonly positions: Column },
  ): MaybePromise<void>;
  /** Sum, minimum or maximum, as `Sorter.reduce` says. */
  reduce(keys: Column, op: ReduceOp): MaybePromise<() => number | bigint>;
  /** `first` and the numbers that follow it, of 32 bits. */
  positions(to: Column, first: number): MaybePromise<void>;
  /** A scan in the keys' own type; `to` may be `from`. */
  scan(from: Column, to: Column, op: ScanOp, inclusive: boolean): MaybePromise<void>;
  /**
   * The chosen keys one behind the other, in input order, and with `rest` the others behind them.
   *
   * @param to of as many keys as `keys`, and not the same
   * @returns how many are chosen, to be asked after the wait
   */
  compact(keys: Column, selection: ColumnSelection, to: Column, rest: boolean): MaybePromise<() => number>;
  /** How many of `sorted` come before each key, with `right` those equal to it, too. @param places u32 */
  searchSorted(sorted: Column, keys: Column, search: Search, places: Column): MaybePromise<void>;
  /** Two columns in the codec's order as one; of equal keys those of `a` come first. */
  merge(a: Column, b: Column, codec: KeyCodec, to: Column): MaybePromise<void>;
  /**
   * Reduces each run of values, which begin at `places` (u32, the first one 0).
   *
   * @param to of `runsDtype`, as many as there are runs
   */
  reduceRuns(values: Column, places: Column, op: ReduceOp, to: Column): MaybePromise<void>;
  /**
   * At most k for each segment, and a 0 behind: `to` has as many entries as `offsets`. All u32.
   *
   * @returns whether the offsets rise from 0 to n, to be asked after the wait
   */
  topCounts(offsets: Column, k: number, n: number, to: Column): MaybePromise<() => boolean>;
  /**
   * The first keys of each segment and their positions, in input order: of segment s from `begins[s]` to before
   * `begins[s + 1]` of `to`, and no more than it has.
   *
   * @param at offsets that rise from 0 to n, and begins; u32
   */
  selectSegments(
    keys: Column,
    codec: KeyCodec,
    at: { readonly offsets: Column; readonly begins: Column },
    to: { readonly keys: Column; readonly positions: Column },
  ): MaybePromise<void>;
  /** The same in order and in one go, where `Columns.selectsShort` says so; left out where it never does. */
  topShort?(work: TopShort): Promise<void>;
  /** Of an order by segments the entries in front of each: of segment s from `begins[s]` of `to` on. All u32. */
  topPositions(order: Column, offsets: Column, begins: Column, to: Column): MaybePromise<void>;
  /** Counts of keys by digit, or between codes in ascending order; the last bin has its upper edge too. */
  histogram(keys: Column, binning: Binning): MaybePromise<() => Uint32Array>;
}
