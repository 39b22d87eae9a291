/** Tables in Parquet and texts, by DuckDB, which only reads. Runs in the child. */
import type { DuckDBDataChunk } from '@duckdb/node-api';
import { connect, loadDuckdb } from '../../formats/foreign/duckdb.js';
import { chunksOf } from '../../formats/foreign/duckdb-reader.js';
import type {
  Batch,
  FoundField,
  ReadTableMessage,
  RowsAs,
  RowsMessage,
} from '../../formats/foreign/protocol.js';
import type { Ask } from '../../formats/foreign/sql-table.js';
import type { Cells } from '../row-layout.js';
import type { TableType } from '../table-type.js';
import { openCsv } from './csv-source.js';
import { duckdbCells } from './duckdb-cells.js';
import { type SqlType, tableType } from './duckdb-types.js';
import { byteAccess, type Vector } from './duckdb-vector.js';
import { openNdjson } from './ndjson-source.js';
import { openParquet } from './parquet-source.js';
import { rowBatches } from './row-batches.js';
import type { TableSource } from './table-source.js';

/** A column that a statement reads. */
export interface SqlColumn {
  readonly index: number;
  readonly as: RowsAs;
}

/** A file as a table that DuckDB reads. */
export interface SqlSource {
  readonly columns: readonly { readonly name: string; readonly isHalf?: boolean }[];
  readonly rows: number | null;
  /** The statement that reads columns; lines have no number. */
  select(columns: readonly SqlColumn[]): string;
}

/** Asks a statement for the types of its columns. */
export type AskTypes = (sql: string) => Promise<readonly SqlType[]>;

const SOURCES = { parquet: openParquet, csv: openCsv, ndjson: openNdjson };

const TEXT: TableType = { is: 'text' };
const JSON_LINE: TableType = { is: 'json' };

export async function openDuckdbTable(message: ReadTableMessage): Promise<TableSource> {
  const duckdb = await loadDuckdb();
  const connection = await connect(duckdb);
  const ask: Ask = async (sql) =>
    (await connection.runAndReadAll(sql)).getRowObjectsJS() as Record<string, unknown>[];
  const askTypes: AskTypes = async (sql) =>
    (await connection.stream(`${sql} LIMIT 0`)).columnTypes() as unknown as SqlType[];
  const source = await SOURCES[message.format as keyof typeof SOURCES](ask, message);
  const all = source.columns.map((_, index) => ({ index, as: 'values' as const }));
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
      const { columns, find } = readings(wanted);
      const sql = source.select(columns);
      for await (const { chunk, n } of chunksOf(connection, sql, columns.length)) {
        const cells = columns.map(({ index, as }, k) => cellsOf(chunk, k, typeAs(fields[index], as)));
        const of = (list: readonly SqlColumn[]): Cells[] => list.map((one) => cells[find(one)] as Cells);
        const read = {
          columns: of(rowColumns(wanted)),
          keys: of(wanted.keys.map(asValues)),
          distinct: of((wanted.distinct ?? []).map((index) => asValues({ index }))),
        };
        yield* rowBatches(n, read, wanted);
      }
    },
  };

  function cellsOf(chunk: DuckDBDataChunk, column: number, type: TableType): Cells {
    return duckdbCells(chunk.getColumnVector(column) as unknown as Vector, type, bytes);
  }
}

const typeAs = (field: FoundField | undefined, as: RowsAs): TableType =>
  as === 'values' ? (field?.type as TableType) : as === 'texts' ? TEXT : JSON_LINE;

const asValues = ({ index }: { readonly index: number }): SqlColumn => ({ index, as: 'values' });

const rowColumns = ({ columns, as }: RowsMessage): SqlColumn[] =>
  as === 'lines' ? [{ index: -1, as }] : columns.map((index) => ({ index, as }));

/** The columns that have to be read, each once, and where they are. */
function readings(wanted: RowsMessage): { columns: SqlColumn[]; find: (column: SqlColumn) => number } {
  const columns: SqlColumn[] = [];
  const find = (one: SqlColumn): number =>
    columns.findIndex(({ index, as }) => index === one.index && as === one.as);
  const distinct = (wanted.distinct ?? []).map((index) => ({ index }));
  for (const one of [...rowColumns(wanted), ...wanted.keys.map(asValues), ...distinct.map(asValues)]) {
    if (find(one) < 0) columns.push(one);
  }
  return { columns, find };
}
