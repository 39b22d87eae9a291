/** Reads Parquet as a table, or as key columns. Runs in the subprocess. */

import { DTYPES } from '../../../../keys/dtype.js';
import { batchesOf as keyBatchesOf } from '../arrow-reader.js';
import type { ColumnReader } from '../column-reader.js';
import type { Batch, RowsMessage, WantedColumn } from '../protocol.js';
import { batchesOf } from './arrow-table-reader.js';
import { ParquetTable } from './parquet-file.js';
import type { TableSource } from './table-source.js';

export async function openParquetTable(): Promise<TableSource> {
  const table = await ParquetTable.open();
  const { arrow, fields, rows, metadata } = table;
  return {
    fields,
    rows,
    metadata,
    async *batches(wanted: RowsMessage): AsyncGenerator<Batch> {
      const { columns, keys, distinct } = wanted;
      const all = [...columns, ...keys.map(({ index }) => index), ...(distinct ?? [])];
      for await (const batch of table.batches(all)) {
        const at = (index: number): number => batch.places.indexOf(index);
        const here = {
          ...wanted,
          columns: columns.map(at),
          keys: keys.map((key) => ({ ...key, index: at(key.index) })),
          distinct: distinct?.map(at) ?? null,
        };
        const found = batch.places.map((i) => fields[i] as (typeof fields)[number]);
        yield* batchesOf(arrow, batch.file, batch.schema, found, here);
      }
    },
  };
}

export async function openParquet(): Promise<ColumnReader> {
  const table = await ParquetTable.open();
  const { arrow, fields, rows } = table;
  return {
    columns: fields.map(({ name, text, type }) => ({
      name,
      type: text,
      dtype: DTYPES.find((dtype) => dtype === type?.is) ?? null,
    })),
    rows,
    async *batches(wanted: readonly WantedColumn[]): AsyncGenerator<Batch> {
      for await (const { file, schema, places } of table.batches(wanted.map(({ index }) => index))) {
        const here = wanted.map((column) => ({ ...column, index: places.indexOf(column.index) }));
        yield* keyBatchesOf(arrow, file, schema, here);
      }
    },
  };
}
