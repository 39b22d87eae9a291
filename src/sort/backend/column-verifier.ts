import type { KeyCodec } from '../../keys/key-codec.js';
import type { ScanOp } from '../../primitives/possible.js';
import type { Column } from '../model/column.js';
import type { ColumnSelection } from './column-kernels.js';

/** Returns what is wrong with a result, or undefined, after the wait. */
export type DeferredVerdict = () => string | undefined;

/** First keys of segments, and the request that they have to satisfy. */
export interface TopResult {
  readonly keys: Column;
  /** u32, as are the other columns. */
  readonly positions: Column;
  /** Start of each segment, then the number of keys; missing for one segment of all keys. */
  readonly segments?: { readonly offsets: Column; readonly begins: Column; readonly fromSegment: boolean };
  /** Maximum number of keys of each segment. */
  readonly k: number;
  readonly codec: KeyCodec;
  /** Bits of the code that are compared. */
  readonly bits: readonly [begin: number, end: number];
}

/**
 * Verification of results by their definition, independent of the algorithm. As with kernels, checks on the device are
 * only enqueued.
 */
export interface ColumnVerifier {
  /**
   * Checks that each result is the one before it combined with one more key; sums and products of floats within their
   * bounds.
   */
  scan(from: Column, to: Column, op: ScanOp, inclusive: boolean): Promise<DeferredVerdict>;
  /**
   * Checks that the result is the sequence of selected keys, followed with `rest` by the other keys.
   *
   * @param count returns the reported number of selected keys after the wait
   */
  compact(
    keys: Column,
    selection: ColumnSelection,
    to: Column,
    rest: boolean,
    count: () => number,
  ): Promise<DeferredVerdict>;
  /**
   * Checks that the distinct keys ascend, and that each occurs in the input as often as its count (u32). Keys are
   * compared as numbers.
   */
  unique(keys: Column, distinct: Column, counts: Column, codec: KeyCodec): Promise<DeferredVerdict>;
  /**
   * Checks that the results are the keys at their positions and in order, and that exactly as many keys of each segment
   * come no later than its last result.
   */
  top(keys: Column, result: TopResult): Promise<DeferredVerdict>;
}
