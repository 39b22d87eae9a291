import { dtypeOfSql } from './duckdb.js';
import type { ForeignColumn, WantedColumn } from './protocol.js';

/** A file as DuckDB sees it. */
export interface SqlTable {
  readonly columns: readonly ForeignColumn[];
  /** Rows in all; null where that is known at the end only. */
  readonly rows: number | null;
  /** The statement that reads these columns, each as what SQL_TYPES says of its dtype. */
  select(wanted: readonly WantedColumn[]): string;
}

/** All rows of a statement, for those that give few. */
export type Ask = (sql: string) => Promise<Record<string, unknown>[]>;

/** The columns of what can be selected from. */
export async function columnsOf(ask: Ask, from: string): Promise<ForeignColumn[]> {
  const rows = await ask(`DESCRIBE FROM ${from}`);
  return rows.map(({ column_name: name, column_type: type }) => ({
    name: String(name),
    type: String(type),
    dtype: dtypeOfSql(String(type)),
  }));
}
