/** Reads tables from Arrow IPC files and streams. Runs in the subprocess. */
import type { Schema } from 'apache-arrow';
import { ArrowFile, damagedFile, loadArrow } from '../arrow-file.js';
import type { Batch, FoundField, TableSource, WantedBatches } from '../protocol.js';
import { columnBatches } from './arrow-columns.js';
import { arrowRecords } from './arrow-records.js';
import { tableField } from './arrow-types.js';
import { type NumberedRecord, numbered, recordBatches } from './record-batches.js';

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
  const records = (): Generator<NumberedRecord> => numbered(arrowRecords(arrow, file, columns, fields));
  return {
    fields,
    rows,
    metadata: Object.fromEntries(metadata),
    batches: (wanted: WantedBatches): Iterable<Batch> | AsyncIterable<Batch> =>
      wanted.is === 'columns'
        ? columnBatches(arrow, file, columns, wanted.columns)
        : recordBatches({ rows, all: records, search: records, chosen: records }, wanted),
  };
}
