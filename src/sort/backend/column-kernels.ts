import type { KeyCodec } from '../../keys/key-codec.js';
import type { CodeRange } from '../../primitives/compact.js';
import type { ReduceOp, ScanOp } from '../../primitives/possible.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import type { Column } from '../model/column.js';
import type { ColumnKernel } from './column-kernel.js';
import type { RanksBy } from './policy.js';

/** Selection of keys: by a mask, which selects the keys whose byte is not 0, or by a range of codes. */
export type ColumnSelection = { readonly mask: Column } | CodeRange;

/** Selected keys, and their positions in the input. */
export interface SelectedKeys {
  readonly keys: Column;
  readonly positions: Column;
}

/** Distinct keys, and where their runs begin (u32). */
export interface KeyHeads {
  readonly keys: Column;
  readonly places: Column;
}

/** The keys that sorted keys stand for: `positions` (u32) maps sorted keys to `input`. */
export interface MovedKeys {
  readonly input: Column;
  readonly positions: Column;
}

/** Request for the first keys of many short segments, in order. Offsets, begins and positions are u32. */
export interface TopShort {
  readonly keys: Column;
  readonly codec: KeyCodec;
  /** Start of each segment, ascending from 0 to n; undefined for rows, which all have `longest` keys. */
  readonly offsets: Column | undefined;
  /** Upper bound of the segment lengths. */
  readonly longest: number;
  /** Maximum number of keys of each segment. */
  readonly k: number;
  /** Start of each segment in the results, then their number. For rows, it is an output. */
  readonly begins: Column;
  readonly to: SelectedKeys;
  /** Whether positions are counted from the start of each segment. */
  readonly fromSegment: boolean;
}

/** Segments whose first keys are selected. */
export interface SelectedSegments {
  /** Start of each segment, ascending from 0 to n; u32 */
  readonly offsets: Column;
  /** Start of each segment in the results, then their number; u32 */
  readonly begins: Column;
  /** Mean length of the segments, which decides on the size of work-groups. */
  readonly meanLength: number;
}

/**
 * Kernels, apart from sorts, that operations consist of. On a device they are only enqueued: their outputs and the
 * numbers that they return are valid after the next wait. Columns have fewer than 2^32 elements.
 */
export interface ColumnKernels {
  /** How keys at given ranks are found soonest. */
  readonly ranksBy: RanksBy;
  /** Whether kernels also write positions as u64, so that columns may have 2^32 keys or more. */
  readonly writesWidePositions: boolean;
  /** Runs a kernel that one operation defines. */
  run<A extends readonly unknown[], R>(kernel: ColumnKernel<A, R>, ...args: A): MaybePromise<R>;
  /** Replaces keys that are equal as numbers by equal bits: one NaN, and +0 for both zeros. */
  canonical(from: Column, to: Column): MaybePromise<void>;
  /**
   * Writes the codes of canonicalized keys at bit `shift` of `to`, a column of u32 or u64. Keys have up to 32 bits.
   *
   * @param first whether the other bits become 0; otherwise they stay unchanged
   */
  appendCodes(from: Column, codec: KeyCodec, to: Column, shift: number, first: boolean): MaybePromise<void>;
  /**
   * Computes `to[i] = from[positions[i]]` for each element of `to`. Both columns have elements of the same size.
   *
   * @param positions u32 or u64
   */
  gather(from: Column, positions: Column, to: Column): MaybePromise<void>;
  /**
   * Gathers several columns of the same length at once, by unchecked positions as u32 or u64. A position out of range results in zero
   * bytes.
   *
   * @returns a function that returns the largest position out of range, or undefined, after the wait
   */
  gatherRows(
    from: readonly Column[],
    positions: Column,
    to: readonly Column[],
  ): MaybePromise<() => number | undefined>;
  /**
   * Writes the segment number of each element.
   *
   * @param begins u32: start of each segment, the first at 0
   * @param positions u32: a permutation, the place of each element's number in `ids`; default: its own
   */
  segmentIds(begins: Column, ids: Column, positions?: Column): MaybePromise<void>;
  /** Computes `positions[i] -= offsets[ids[i]]`, which are positions from the start of each segment. All u32. */
  subtractBegins(positions: Column, ids: Column, offsets: Column): MaybePromise<void>;
  /**
   * Finds the distinct keys of a sorted column.
   *
   * @param out outputs with the length of `sorted`
   * @param moved if given, the keys of `input` that the distinct ones stand for are written instead
   * @returns a function that returns the number of distinct keys after the wait
   */
  distinct(sorted: Column, out: KeyHeads, moved?: MovedKeys): MaybePromise<() => number>;
  /**
   * Computes how often each distinct key occurs.
   *
   * @param n number of keys in all
   */
  counts(places: Column, n: number, to: Column): MaybePromise<void>;
  /** Selects the first keys of the order, as many as `to` holds, and their positions. The output is in input order. */
  select(keys: Column, codec: KeyCodec, to: SelectedKeys): MaybePromise<void>;
  /**
   * Does what `select` does and sorts the result, equal keys by position.
   *
   * @returns false, and `to` is not written, if a sort of what `select` writes is faster
   */
  selectSorted(keys: Column, codec: KeyCodec, to: SelectedKeys): MaybePromise<boolean>;
  /** Computes the sum, minimum or maximum, as described in `Sorter.reduce`. */
  reduce(keys: Column, op: ReduceOp): MaybePromise<() => number | bigint>;
  /** Computes a scan in the keys' dtype; `to` may be `from`. */
  scan(from: Column, to: Column, op: ScanOp, inclusive: boolean): MaybePromise<void>;
  /**
   * Computes min(k, length) of each segment, followed by a 0: `to` has as many entries as `offsets`. All u32.
   *
   * @returns a function that returns whether the offsets ascend from 0 to n, after the wait
   */
  topCounts(offsets: Column, k: number, n: number, to: Column): MaybePromise<() => boolean>;
  /**
   * Selects the first keys of each segment and their positions. Those of segment s go to `begins[s]` to before
   * `begins[s + 1]` of `to`, in input order.
   */
  selectSegments(keys: Column, codec: KeyCodec, at: SelectedSegments, to: SelectedKeys): MaybePromise<void>;
  /**
   * Selects the first keys of each segment in order, with one launch, where `Columns.prefersShortSelect` returns true;
   * missing if it never does.
   */
  topShort?(work: TopShort): MaybePromise<void>;
  /**
   * Copies the first entries of each segment from an order by segments. Those of segment s go to `begins[s]` of `to`
   * and on. All u32.
   */
  topPositions(order: Column, offsets: Column, begins: Column, to: Column): MaybePromise<void>;
}
