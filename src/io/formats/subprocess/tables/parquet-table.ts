/** Reads Parquet files. Runs in the subprocess. */
import { FormatError } from '../../../../util/errors.js';
import { fileSource } from '../byte-source.js';
import type { Batch, ColumnsMessage, TableSource, WantedBatches, WantedKey } from '../protocol.js';
import { columnBatches } from './arrow-columns.js';
import { arrowRecords } from './arrow-records.js';
import { NumericColumn } from './numeric-column.js';
import { ParquetTable, type RowRange } from './parquet-file.js';
import { type PlacedGroup, placedGroups, searchedGroups } from './parquet-groups.js';
import {
  type NumberedRecord,
  numbered,
  type RecordSource,
  recordBatches,
  type Search,
} from './record-batches.js';

export async function openParquetTable(): Promise<TableSource> {
  const table = await ParquetTable.open();
  const { fields, rows, metadata } = table;
  const source = new ParquetSource(table);
  return {
    fields,
    rows,
    metadata,
    batches: (wanted: WantedBatches) =>
      wanted.is === 'columns' ? numericColumns(table, wanted) : recordBatches(source, wanted),
  };
}

async function* numericColumns(table: ParquetTable, { columns }: ColumnsMessage): AsyncGenerator<Batch> {
  for await (const { file, schema, places } of table.batches(columns)) {
    const wanted = columns.map((index) => places.indexOf(index));
    yield* columnBatches(table.arrow, file, schema, wanted);
  }
}

class ParquetSource implements RecordSource {
  readonly rows: number;
  readonly #table: ParquetTable;
  readonly #groups: readonly PlacedGroup[];

  constructor(table: ParquetTable) {
    this.#table = table;
    this.rows = table.rows;
    this.#groups = placedGroups(table.rowGroups);
  }

  all(columns: readonly number[]): AsyncGenerator<NumberedRecord> {
    return this.#records(columns, {}, 0);
  }

  async *search(search: Search): AsyncGenerator<NumberedRecord> {
    const { keys } = search;
    const [{ index }] = keys as [WantedKey];
    const type = this.#table.fields[index]?.type;
    const done = new Set<number>();
    try {
      const numbers = keys.length === 1 ? await NumericColumn.open(fileSource(), () => index) : undefined;
      if (numbers && numbers.dtype === type?.is) {
        for await (const record of numbers.search(search)) {
          if (record.rows > 0) done.add(record.firstRow);
          yield record;
        }
        return;
      }
    } catch (error) {
      if (!(error instanceof FormatError)) throw error; // the package decodes the rest, or reports what is wrong
    }
    const columns = keys.map((key) => key.index);
    const facts = { leaf: this.#table.leafOf(index), type };
    for (const place of searchedGroups(this.#groups, facts, search)) {
      if (!done.has(place.firstRow)) yield* this.#group(columns, place, 0, place.group.rows);
    }
  }

  async *chosen(columns: readonly number[], rows: readonly number[]): AsyncGenerator<NumberedRecord> {
    let at = 0;
    for (const place of this.#groups) {
      const begin = at;
      while (at < rows.length && (rows[at] as number) < place.firstRow + place.group.rows) at++;
      if (at === begin) continue;
      const [from, last] = [rows[begin] as number, rows[at - 1] as number];
      yield* this.#group(columns, place, from - place.firstRow, last + 1 - from);
    }
  }

  /** Yields `limit` rows of a row group from row `offset` of it on. */
  async *#group(
    columns: readonly number[],
    { index, firstRow }: PlacedGroup,
    offset: number,
    limit: number,
  ): AsyncGenerator<NumberedRecord> {
    let rows = 0;
    for await (const record of this.#records(
      columns,
      { rowGroups: [index], offset, limit },
      firstRow + offset,
    )) {
      rows += record.rows;
      yield record;
    }
    if (rows === limit) return;
    throw new FormatError(
      `rows ${offset} to ${offset + limit} of row group ${index} were requested, but it has ${rows} of them`,
    );
  }

  async *#records(
    columns: readonly number[],
    range: RowRange,
    firstRow: number,
  ): AsyncGenerator<NumberedRecord> {
    const { arrow, fields } = this.#table;
    for await (const { file, schema, places } of this.#table.batches(columns, range)) {
      const found = places.map((i) => fields[i] as (typeof fields)[number]);
      for (const record of numbered(arrowRecords(arrow, file, schema, found), firstRow)) {
        firstRow += record.rows;
        yield { ...record, columns: (indices) => record.columns(indices.map((i) => places.indexOf(i))) };
      }
    }
  }
}
