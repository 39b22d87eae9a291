/** Writes tables as text with DuckDB. Runs in the subprocess. */
import type { DuckDBDataChunk } from '@duckdb/node-api';
import { connect, FILE, literal, loadDuckdb, quoted } from '../duckdb.js';
import type { NextBatch, WriteMessage } from '../protocol.js';
import { columnChunks } from './batch-columns.js';
import { duckdbType } from './duckdb-types.js';
import { byteAccess, type Vector } from './duckdb-vector.js';
import { fillVector } from './fill-vector.js';

/** Rows per chunk: the maximum size of a DuckDB vector. */
const CHUNK_ROWS = 2048;

/**
 * Writes all rows in order.
 *
 * @returns the number of rows written
 */
export async function writeDuckdbTable(message: WriteMessage, next: NextBatch): Promise<number> {
  const { fields } = message;
  const duckdb = await loadDuckdb();
  const connection = await connect(duckdb);
  const access = byteAccess(duckdb);
  const chunks = columnChunks(message, next, CHUNK_ROWS);
  let rows = 0;
  const mainFunction = (_info: unknown, chunk: DuckDBDataChunk): void => {
    const { rows: n, columns } = chunks.next().value ?? { rows: 0, columns: [] };
    chunk.rowCount = n; // 0 ends the scan
    for (const [k, column] of columns.entries()) {
      fillVector(chunk.getColumnVector(k) as unknown as Vector, column, access);
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
function selectOf({ format, fields, layout }: WriteMessage): string {
  const [only] = fields;
  if (format === 'csv' && only && fields.length === 1 && layout === 'rows') {
    // A null is written as a quoted empty string, because an empty line is not a row.
    return `SELECT coalesce(CAST(#1 AS VARCHAR), '') AS ${quoted(only.name)} FROM incoming()`;
  }
  if (!fields.some(({ type }) => type.is === 'json')) return 'FROM incoming()';
  const columns = fields.map(({ name, type }, i) =>
    type.is === 'json' ? `CAST(#${i + 1} AS JSON) AS ${quoted(name)}` : `#${i + 1} AS ${quoted(name)}`,
  );
  return `SELECT ${columns.join()} FROM incoming()`;
}

function copyOptions({ format, header = true, delimiter, compression }: WriteMessage): string[] {
  // By default DuckDB writes to a temporary name and renames.
  const options = ['USE_TMP_FILE false', `FORMAT ${format === 'ndjson' ? 'json' : format}`];
  if (compression) options.push(`COMPRESSION ${compression}`);
  if (format === 'csv') options.push(`HEADER ${header}`, `DELIMITER ${literal(delimiter ?? ',')}`);
  return options;
}
