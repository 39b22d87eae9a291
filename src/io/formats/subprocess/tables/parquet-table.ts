/** Reads Parquet files. Runs in the subprocess. */
import type { Batch, RowsMessage, TableSource, WantedBatches } from '../protocol.js';
import { batchesOf, firstRowsOf } from './arrow-table-reader.js';
import { ParquetTable } from './parquet-file.js';

export async function openParquetTable(): Promise<TableSource> {
  const table = await ParquetTable.open();
  const { arrow, fields, rows, metadata } = table;
  return {
    fields,
    rows,
    metadata,
    async *batches(wanted: WantedBatches): AsyncGenerator<Batch> {
      const first = firstRowsOf(wanted);
      for await (const { file, schema, places } of table.batches(indicesOf(wanted))) {
        const found = places.map((i) => fields[i] as (typeof fields)[number]);
        yield* batchesOf(arrow, file, schema, found, selection(wanted, places), first);
      }
    },
  };
}

/** Returns the indices in the file of all columns of a request. */
const indicesOf = (wanted: WantedBatches): readonly number[] =>
  wanted.is === 'columns'
    ? wanted.columns
    : [...wanted.columns, ...wanted.keys.map(({ index }) => index), ...(wanted.distinct ?? [])];

/** Returns a request with the indices of the columns in a batch of columns `places`. */
function selection(wanted: WantedBatches, places: readonly number[]): WantedBatches {
  const at = (index: number): number => places.indexOf(index);
  const columns = wanted.columns.map(at);
  if (wanted.is === 'columns') return { ...wanted, columns };
  const { keys, distinct }: RowsMessage = wanted;
  return {
    ...{ ...wanted, columns, distinct: distinct?.map(at) ?? null },
    keys: keys.map((key) => ({ ...key, index: at(key.index) })),
  };
}
