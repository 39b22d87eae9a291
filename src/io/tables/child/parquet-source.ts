/** Parquet as a table. Runs in the child. */
import { FROM, parquetFacts } from '../../formats/foreign/parquet-table.js';
import type { Ask } from '../../formats/foreign/sql-table.js';
import type { SqlSource } from './duckdb-table-reader.js';

export async function openParquet(ask: Ask): Promise<SqlSource> {
  const { columns, rows } = await parquetFacts(ask);
  return {
    columns: columns.map(({ own, type }) => ({ name: own, isHalf: type === 'FLOAT16' })),
    rows,
    // By their places: names say nothing that a statement could misread.
    select: (wanted) => `SELECT ${wanted.map((index) => `#${index + 1}`).join()} FROM ${FROM}`,
  };
}
