/** Tables in Parquet, by DuckDB, which only reads. Runs in the child. */
import type { DuckDBDataChunk } from '@duckdb/node-api';
import { connect, loadDuckdb } from '../../formats/foreign/duckdb.js';
import { chunksOf } from '../../formats/foreign/duckdb-reader.js';
import type { Batch, FoundField, RowsMessage } from '../../formats/foreign/protocol.js';
import type { Ask } from '../../formats/foreign/sql-table.js';
import type { Cells } from '../row-layout.js';
import type { TableType } from '../table-type.js';
import { duckdbCells } from './duckdb-cells.js';
import { type SqlType, tableType } from './duckdb-types.js';
import { byteAccess, type Vector } from './duckdb-vector.js';
import { openParquet } from './parquet-source.js';
import { rowBatches } from './row-batches.js';
import type { TableSource } from './table-source.js';

/** A file as a table that DuckDB reads. */
export interface SqlSource {
  readonly columns: readonly { readonly name: string; readonly isHalf?: boolean }[];
  readonly rows: number | null;
  /** The statement that reads columns, by their places. */
  select(columns: readonly number[]): string;
}

/** Asks a statement for the types of its columns. */
export type AskTypes = (sql: string) => Promise<readonly SqlType[]>;

export async function openDuckdbTable(): Promise<TableSource> {
  const duckdb = await loadDuckdb();
  const connection = await connect(duckdb);
  const ask: Ask = async (sql) =>
    (await connection.runAndReadAll(sql)).getRowObjectsJS() as Record<string, unknown>[];
  const askTypes: AskTypes = async (sql) =>
    (await connection.stream(`${sql} LIMIT 0`)).columnTypes() as unknown as SqlType[];
  const source: SqlSource = await openParquet(ask);
  const all = source.columns.map((_, index) => index);
  const types = all.length === 0 ? [] : await askTypes(source.select(all));
  const fields = source.columns.map(({ name, isHalf }, i): FoundField => {
    const found = types[i] as SqlType;
    const type: TableType | undefined = isHalf ? { is: 'f16' } : tableType(found);
    return { name, text: isHalf ? 'FLOAT16' : (found.alias ?? found.toString()), ...(type && { type }) };
  });
  const bytes = byteAccess(duckdb);
  return {
    fields,
    rows: source.rows,
    async *batches(wanted: RowsMessage): AsyncGenerator<Batch> {
      const columns = [
        ...new Set([...wanted.columns, ...wanted.keys.map(({ index }) => index), ...(wanted.distinct ?? [])]),
      ];
      const sql = source.select(columns);
      for await (const { chunk, n } of chunksOf(connection, sql, columns.length)) {
        const cells = columns.map((index, k) => cellsOf(chunk, k, fields[index]?.type as TableType));
        const of = (list: readonly number[]): Cells[] =>
          list.map((index) => cells[columns.indexOf(index)] as Cells);
        const read = {
          columns: of(wanted.columns),
          keys: of(wanted.keys.map(({ index }) => index)),
          distinct: of(wanted.distinct ?? []),
        };
        yield* rowBatches(n, read, wanted);
      }
    },
  };

  function cellsOf(chunk: DuckDBDataChunk, column: number, type: TableType): Cells {
    return duckdbCells(chunk.getColumnVector(column) as unknown as Vector, type, bytes);
  }
}
