/** What readers and writers of tables have in common, whichever library is behind them. Runs in the child. */
import type { Batch, FoundField, RowsMessage } from '../../formats/subprocess/protocol.js';

/** A table that is open in the child. */
export interface TableSource {
  readonly fields: readonly FoundField[];
  /** Rows in all; null where that is known at the end only. */
  readonly rows: number | null;
  /** What the file says besides, by keys. */
  readonly metadata?: Readonly<Record<string, string>>;
  batches(wanted: RowsMessage): AsyncIterable<Batch> | Iterable<Batch>;
}

/** The next batch of rows to be written; undefined behind the last one. */
export type NextBatch = () => Batch | undefined;
