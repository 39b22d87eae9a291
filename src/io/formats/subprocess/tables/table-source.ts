/** Interfaces that all table readers and writers of the subprocess implement. */
import type { Batch, FoundField, RowsMessage } from '../protocol.js';

/** An open table in the subprocess. */
export interface TableSource {
  readonly fields: readonly FoundField[];
  /** Total number of rows; null if unknown before the end. */
  readonly rows: number | null;
  /** Key-value metadata of the file. */
  readonly metadata?: Readonly<Record<string, string>>;
  batches(wanted: RowsMessage): AsyncIterable<Batch> | Iterable<Batch>;
}

/** Returns the next batch of rows to write; undefined after the last one. */
export type NextBatch = () => Batch | undefined;
