/** Divides the batches that the parent sends into columns. Runs in the subprocess. */
import { type Column, ColumnBuilder, numberColumn } from '../../tables/column-builder.js';
import type { Batch, NextBatch, WriteMessage } from '../protocol.js';

type Contents = Pick<WriteMessage, 'fields' | 'layout'>;

/** Reads the columns of a batch, some rows at a time. */
class BatchReader {
  readonly #contents: Contents;
  readonly #batch: Batch;
  #row = 0;
  /** Offset of the next row, in the layout of rows. */
  #at = 0;

  constructor(contents: Contents, batch: Batch) {
    this.#contents = contents;
    this.#batch = batch;
  }

  get isOver(): boolean {
    return this.#row === this.#batch.rows;
  }

  /** Returns the columns of the next rows, at most `maxRows`. */
  take(maxRows: number): { readonly rows: number; readonly columns: readonly Column[] } {
    const { fields, layout } = this.#contents;
    const { buffers, rows: all } = this.#batch;
    const first = this.#row;
    const rows = Math.min(maxRows, all - first);
    this.#row += rows;
    if (layout === 'columns') {
      const values = (k: number): Uint8Array => buffers[2 * k + 1] ?? new Uint8Array(0);
      return { rows, columns: fields.map(({ type }, k) => numberColumn(type, values(k), first, rows)) };
    }
    const columns = fields.map(({ type }) => new ColumnBuilder(type));
    const [bytes = new Uint8Array(0)] = buffers;
    for (let i = 0; i < rows; i++) for (const column of columns) this.#at = column.take(bytes, this.#at);
    return { rows, columns };
  }
}

export const batchColumns = (contents: Contents, batch: Batch): readonly Column[] =>
  new BatchReader(contents, batch).take(batch.rows).columns;

/** Yields the columns of all batches, with at most `maxRows` rows at a time. */
export function* columnChunks(
  contents: Contents,
  next: NextBatch,
  maxRows: number,
): Generator<ReturnType<BatchReader['take']>> {
  for (let batch = next(); batch; batch = next()) {
    const reader = new BatchReader(contents, batch);
    while (!reader.isOver) yield reader.take(maxRows);
  }
}
