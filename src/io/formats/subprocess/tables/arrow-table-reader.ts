/** Reads tables from Arrow IPC files and streams. Runs in the subprocess. */
import type { Field, Schema } from 'apache-arrow';
import { FirstRows } from '../../tables/first-rows.js';
import type { Cells } from '../../tables/row-layout.js';
import type { TableType } from '../../tables/table-type.js';
import { ArrowFile, type ArrowPackage, damagedFile, loadArrow } from '../arrow-file.js';
import { columnBegin } from '../arrow-layout.js';
import type { Batch, FoundField, RowsMessage, TableSource, WantedBatches } from '../protocol.js';
import { ArrowBatch } from './arrow-cells.js';
import { columnBatches } from './arrow-columns.js';
import { ArrowTableDictionaries } from './arrow-dictionaries.js';
import { tableField } from './arrow-types.js';
import { rowBatches } from './row-batches.js';

/** Maximum number of rows of a batch without data, as in all-null columns. */
const MAX_BARE_ROWS = 2 ** 24;

export async function openArrowTable(): Promise<TableSource> {
  const arrow = await loadArrow();
  const file = new ArrowFile(arrow);
  let schema: Schema | undefined;
  let rows = 0;
  for (const found of file.messages()) {
    if ('schema' in found) schema ??= found.schema;
    else if (!schema) throw damagedFile('its first message is not a schema');
    else if ('record' in found) rows += found.record.length;
  }
  if (!schema) throw damagedFile('it has no schema');
  if (!Number.isSafeInteger(rows)) throw damagedFile('it has an impossible number of rows');
  const { fields: columns, metadata } = schema;
  const fields = columns.map((field): FoundField => {
    const text = `${field.type}`;
    return { ...tableField(arrow, field), name: field.name ?? '', text }; // null for an unnamed field
  });
  return {
    fields,
    rows,
    metadata: Object.fromEntries(metadata),
    batches: (wanted) => batchesOf(arrow, file, columns, fields, wanted, firstRowsOf(wanted)),
  };
}

export const batchesOf = (
  arrow: ArrowPackage,
  file: ArrowFile,
  schema: readonly Field[],
  fields: readonly FoundField[],
  wanted: WantedBatches,
  first: FirstRows | undefined,
): Generator<Batch> =>
  wanted.is === 'columns'
    ? columnBatches(arrow, file, schema, wanted.columns)
    : rowBatchesOf(arrow, file, schema, fields, wanted, first);

/** Returns the selection of first rows that a request needs. */
export const firstRowsOf = (wanted: WantedBatches): FirstRows | undefined =>
  wanted.is === 'columns' || wanted.head === undefined ? undefined : new FirstRows(wanted.head);

function* rowBatchesOf(
  arrow: ArrowPackage,
  file: ArrowFile,
  schema: readonly Field[],
  fields: readonly FoundField[],
  wanted: RowsMessage,
  first: FirstRows | undefined,
): Generator<Batch> {
  const dictionaries = new ArrowTableDictionaries(arrow, schema);
  for (const found of file.messages()) {
    if ('dictionary' in found) dictionaries.take(found);
    if (!('record' in found)) continue;
    const { record } = found;
    const read = new Map<number, Cells>();
    let taken = 0;
    const cells = (index: number): Cells => {
      let known = read.get(index);
      if (!known) {
        const place = columnBegin(arrow, schema, index, record);
        const batch = new ArrowBatch(arrow, found, place, dictionaries.values);
        known = batch.cells(schema[index] as Field, fields[index]?.type as TableType, record.length);
        read.set(index, known);
        taken += batch.takenBytes;
      }
      return known;
    };
    const all = {
      columns: wanted.columns.map(cells),
      keys: wanted.keys.map(({ index }) => cells(index)),
      distinct: (wanted.distinct ?? []).map(cells),
    };
    // Otherwise every row takes at least one bit, which rejects batches that claim too many rows.
    if (record.length > MAX_BARE_ROWS && 8 * taken < record.length) {
      throw damagedFile(`a batch declares ${record.length} rows but has ${taken} bytes`);
    }
    yield* rowBatches(record.length, all, wanted, first);
  }
}
