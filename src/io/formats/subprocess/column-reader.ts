/** What the readers and writers of a child have in common, whichever library is behind them. */
import type { Batch, FileColumn, NamedColumn, TextOptions, WantedColumn } from './protocol.js';

/** A foreign file that is open in the child. */
export interface ColumnReader {
  readonly columns: readonly FileColumn[];
  /** Rows in all; null where that is known at the end only. */
  readonly rows: number | null;
  /** Batches with these columns, in the order of rows. */
  batches(wanted: readonly WantedColumn[]): AsyncIterable<Batch> | Iterable<Batch>;
}

/** What is to be written, and where it comes from. */
export interface ColumnSource extends TextOptions {
  readonly columns: readonly NamedColumn[];
  /** The next batch, waited for on this thread; undefined behind the last one. */
  next(): Batch | undefined;
}
