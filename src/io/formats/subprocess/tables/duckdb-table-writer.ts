/** Writes tables as text with DuckDB. Runs in the subprocess. */
import type { DuckDBDataChunk } from '@duckdb/node-api';
import { ColumnBuilder } from '../../tables/column-builder.js';
import { connect, FILE, loadDuckdb, quoted } from '../duckdb.js';
import { CHUNK_ROWS, copyOptions } from '../duckdb-writer.js';
import type { WriteTableMessage } from '../protocol.js';
import { duckdbType } from './duckdb-types.js';
import { byteAccess, type Vector } from './duckdb-vector.js';
import { fillVector } from './fill-vector.js';
import type { NextBatch } from './table-source.js';

/**
 * Writes all rows in order.
 *
 * @returns the number of rows written
 */
export async function writeDuckdbTable(message: WriteTableMessage, next: NextBatch): Promise<number> {
  const { fields } = message;
  const duckdb = await loadDuckdb();
  const connection = await connect(duckdb);
  const access = byteAccess(duckdb);
  const batches = new Rows(next);
  let rows = 0;
  const mainFunction = (_info: unknown, chunk: DuckDBDataChunk): void => {
    const columns = fields.map(({ type }) => new ColumnBuilder(type));
    let n = 0;
    while (n < CHUNK_ROWS && batches.take(columns)) n++;
    chunk.rowCount = n; // 0 ends the scan
    for (const [k, column] of columns.entries()) {
      if (n > 0) fillVector(chunk.getColumnVector(k) as unknown as Vector, column, access);
    }
    rows += n;
  };
  connection.registerTableFunction(
    duckdb.DuckDBTableFunction.create({
      name: 'incoming',
      bindFunction: (info) => {
        for (const { name, type } of fields) info.addResultColumn(name, duckdbType(duckdb, type));
      },
      initFunction: (info) => info.setMaxThreads(1), // keeps the rows in batch order
      mainFunction,
    }),
  );
  await connection.run(`COPY (${selectOf(message)}) TO ${FILE} (${copyOptions(message).join()})`);
  return rows;
}

/** Returns the SELECT statement. Table functions return JSON as VARCHAR, which needs a cast. */
function selectOf({ format, fields }: WriteTableMessage): string {
  const [only] = fields;
  if (format === 'csv' && only && fields.length === 1) {
    // A null is written as a quoted empty string, because an empty line is not a row.
    return `SELECT coalesce(CAST(#1 AS VARCHAR), '') AS ${quoted(only.name)} FROM incoming()`;
  }
  if (!fields.some(({ type }) => type.is === 'json')) return 'FROM incoming()';
  const columns = fields.map(({ name, type }, i) =>
    type.is === 'json' ? `CAST(#${i + 1} AS JSON) AS ${quoted(name)}` : `#${i + 1} AS ${quoted(name)}`,
  );
  return `SELECT ${columns.join()} FROM incoming()`;
}

/** Reads the rows of all batches one by one. */
class Rows {
  readonly #next: NextBatch;
  #isOver = false;
  #left = 0;
  #at = 0;
  #bytes: Uint8Array = new Uint8Array(0);

  constructor(next: NextBatch) {
    this.#next = next;
  }

  /** Appends a row to the columns; returns false at the end. */
  take(columns: readonly ColumnBuilder[]): boolean {
    while (this.#left === 0) {
      const batch = this.#isOver ? undefined : this.#next();
      if (!batch) {
        this.#isOver = true; // the parent sends nothing more, so reading again would block
        return false;
      }
      this.#left = batch.rows;
      this.#at = 0;
      this.#bytes = batch.buffers[0] ?? new Uint8Array(0);
    }
    for (const column of columns) this.#at = column.take(this.#bytes, this.#at);
    this.#left--;
    return true;
  }
}
