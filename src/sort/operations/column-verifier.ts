import type { KeyCodec } from '../../keys/key-codec.js';
import type { ScanOp } from '../../primitives/possible.js';
import type { Column } from '../backend/column.js';
import type { ColumnSelection } from './column-kernels.js';

/** What is wrong with a result, in words, to be asked after the wait; undefined where nothing is. */
export type DeferredVerdict = () => string | undefined;

/** The first keys of segments, and which they are to be. */
export interface TopResult {
  readonly keys: Column;
  /** u32, as are the other columns. */
  readonly positions: Column;
  /** Where segments begin, and at last the number of keys; left out for one segment of everything. */
  readonly segments?: { readonly offsets: Column; readonly begins: Column; readonly fromSegment: boolean };
  /** At most so many of each segment. */
  readonly k: number;
  readonly codec: KeyCodec;
  /** Bits of the code that keys are compared by. */
  readonly bits: readonly [begin: number, end: number];
}

/**
 * Checks of results, each by what defines it, however it was made. As with steps, those of the device are enqueued only.
 */
export interface ColumnVerifier {
  /** Each result is the one before it combined with one key more; sums and products of floats are within their bounds. */
  scan(from: Column, to: Column, op: ScanOp, inclusive: boolean): Promise<DeferredVerdict>;
  /**
   * The result is the sequence of chosen keys, with `rest` that of the others behind it.
   *
   * @param count how many were told to be chosen, after the wait
   */
  compact(
    keys: Column,
    selection: ColumnSelection,
    to: Column,
    rest: boolean,
    count: () => number,
  ): Promise<DeferredVerdict>;
  /** Distinct keys rise, and each is as often in the input as its count (u32) says. Keys are compared as numbers. */
  unique(keys: Column, distinct: Column, counts: Column, codec: KeyCodec): Promise<DeferredVerdict>;
  /** Keys are what stands at their positions, in order, and as many others come no later than the last of a segment. */
  top(keys: Column, result: TopResult): Promise<DeferredVerdict>;
}
