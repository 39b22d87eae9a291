import { FILE, SQL_TYPES } from './duckdb.js';
import type { ForeignColumn } from './protocol.js';
import { type Ask, columnsOf, type SqlTable } from './sql-table.js';

const FROM = `read_parquet(${FILE})`;

/** Whether there are halves among the columns; DuckDB reads them as floats. */
async function withHalves(ask: Ask, columns: readonly ForeignColumn[]): Promise<readonly ForeignColumn[]> {
  const [root, ...schema] = await ask(`SELECT num_children, logical_type FROM parquet_schema(${FILE})`);
  // Where columns have parts, the schema has more entries than there are columns, and theirs are to be counted off.
  let at = 0;
  const skip = (): void => {
    const children = Number(schema[at++]?.num_children ?? 0);
    for (let i = 0; i < children; i++) skip();
  };
  if (!root) return columns;
  return columns.map((column) => {
    const isHalf = column.type === 'FLOAT' && /^Float16/i.test(String(schema[at]?.logical_type ?? ''));
    skip();
    return isHalf ? { ...column, type: 'FLOAT16', dtype: 'f16' as const } : column;
  });
}

export async function parquetTable(ask: Ask): Promise<SqlTable> {
  const columns = await withHalves(ask, await columnsOf(ask, FROM));
  const [facts] = await ask(`SELECT CAST(sum(num_rows) AS BIGINT) AS n FROM parquet_file_metadata(${FILE})`);
  const rows = Number(facts?.n ?? 0);
  return {
    columns,
    rows,
    // By their places: names say nothing that a statement could misread.
    select: (wanted) =>
      `SELECT ${wanted.map(({ index, dtype }) => `CAST(#${index + 1} AS ${SQL_TYPES[dtype]})`).join()} FROM ${FROM}`,
  };
}
