/** Reads Parquet files. Runs in the subprocess. */
import { FormatError } from '../../../../util/errors.js';
import type { Batch, ColumnsMessage, TableSource, WantedBatches, WantedKey } from '../protocol.js';
import { columnBatches } from './arrow-columns.js';
import { arrowRecords } from './arrow-records.js';
import { ParquetTable, type RowRange } from './parquet-file.js';
import type { RowGroup } from './parquet-footer.js';
import { firstCode } from './parquet-statistics.js';
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

/** A row group with its place in the file. */
interface PlacedGroup {
  readonly index: number;
  readonly firstRow: number;
  readonly group: RowGroup;
}

class ParquetSource implements RecordSource {
  readonly rows: number;
  readonly #table: ParquetTable;
  readonly #groups: readonly PlacedGroup[];

  constructor(table: ParquetTable) {
    this.#table = table;
    this.rows = table.rows;
    let firstRow = 0;
    this.#groups = table.rowGroups.map((group, index) => {
      firstRow += group.rows;
      return { index, group, firstRow: firstRow - group.rows };
    });
  }

  all(columns: readonly number[]): AsyncGenerator<NumberedRecord> {
    return this.#records(columns, {}, 0);
  }

  /** Reads row groups in the order of their bounds, so that the first rows are found early. */
  async *search({
    keys,
    first,
    trustsStatistics = false,
    countsNulls,
  }: Search): AsyncGenerator<NumberedRecord> {
    const [key] = keys as [WantedKey];
    const type = this.#table.fields[key.index]?.type;
    const bounded = this.#groups.map((place) => {
      const statistics = this.#table.statistics(place.group, key.index);
      const isBounded = trustsStatistics && type && !(countsNulls && statistics.nulls !== 0);
      return { ...place, bound: (isBounded && firstCode(statistics, type, key)) || NO_BOUND };
    });
    const columns = keys.map(({ index }) => index);
    for (const { bound, ...place } of bounded.sort((a, b) => Buffer.compare(a.bound, b.bound))) {
      if (first.mayContain(bound, place.firstRow)) yield* this.#group(columns, place, 0, place.group.rows);
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

/** Precedes all codes. */
const NO_BOUND = new Uint8Array(0);
