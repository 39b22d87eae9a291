/** Interfaces that all readers and writers of the subprocess implement. */
import type { Batch, FileColumn, NamedColumn, TextOptions, WantedColumn } from './protocol.js';

/** An open file in the subprocess. */
export interface ColumnReader {
  readonly columns: readonly FileColumn[];
  /** Total number of rows; null if unknown before the end. */
  readonly rows: number | null;
  /** Yields batches of these columns, in row order. */
  batches(wanted: readonly WantedColumn[]): AsyncIterable<Batch> | Iterable<Batch>;
}

/** The columns to write, and the source of their batches. */
export interface ColumnSource extends TextOptions {
  readonly columns: readonly NamedColumn[];
  /** Blocks until the next batch arrives; returns undefined after the last one. */
  next(): Batch | undefined;
}
