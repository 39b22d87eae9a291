import { FILE, SQL_TYPES } from './duckdb.js';
import type { ForeignColumn } from './protocol.js';
import { type Ask, columnsOf, type SqlTable } from './sql-table.js';

/** What statements select from. */
export const FROM = `read_parquet(${FILE})`;

/** A column, which DuckDB calls otherwise where two are called alike. */
export interface ParquetColumn extends ForeignColumn {
  /** Its name in the file. */
  readonly own: string;
}

/** What the schema says besides: names as they are, and halves, which DuckDB reads as floats. */
async function withSchema(ask: Ask, columns: readonly ForeignColumn[]): Promise<readonly ParquetColumn[]> {
  const [root, ...schema] = await ask(`SELECT name, num_children, logical_type FROM parquet_schema(${FILE})`);
  // Where columns have parts, the schema has more entries than there are columns, and theirs are to be counted off.
  let at = 0;
  const skip = (): void => {
    const children = Number(schema[at++]?.num_children ?? 0);
    for (let i = 0; i < children; i++) skip();
  };
  return columns.map((column) => {
    const entry = root && schema[at];
    skip();
    const own = typeof entry?.name === 'string' ? entry.name : column.name;
    const isHalf = column.type === 'FLOAT' && /^Float16/i.test(String(entry?.logical_type ?? ''));
    return { ...column, own, ...(isHalf && { type: 'FLOAT16', dtype: 'f16' as const }) };
  });
}

/** The columns of a file, and how many rows it has. */
export async function parquetFacts(
  ask: Ask,
): Promise<{ readonly columns: readonly ParquetColumn[]; readonly rows: number }> {
  const columns = await withSchema(ask, await columnsOf(ask, FROM));
  const [facts] = await ask(`SELECT CAST(sum(num_rows) AS BIGINT) AS n FROM parquet_file_metadata(${FILE})`);
  return { columns, rows: Number(facts?.n ?? 0) };
}

export async function parquetTable(ask: Ask): Promise<SqlTable> {
  const { columns, rows } = await parquetFacts(ask);
  return {
    columns: columns.map(({ own: _, ...column }) => column),
    rows,
    // By their places: names say nothing that a statement could misread.
    select: (wanted) =>
      `SELECT ${wanted.map(({ index, dtype }) => `CAST(#${index + 1} AS ${SQL_TYPES[dtype]})`).join()} FROM ${FROM}`,
  };
}
