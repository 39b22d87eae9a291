/** Reads Arrow IPC files and streams. Runs in the subprocess. */
import type { Dictionary, Field } from 'apache-arrow';
import { type Dtype, dtypeInfo } from '../../../keys/dtype.js';
import { ArrowColumn } from './arrow-column.js';
import { ArrowDictionary } from './arrow-dictionary.js';
import {
  ArrowFile,
  type ArrowPackage,
  type Body,
  damagedFile,
  type FoundDictionary,
  loadArrow,
  type RecordHeader,
} from './arrow-file.js';
import { columnPosition, dtypeOfArrow } from './arrow-layout.js';
import type { ColumnReader } from './column-reader.js';
import { BATCH_ROWS, type Batch, type WantedColumn } from './protocol.js';

export async function openArrow(): Promise<ColumnReader> {
  const arrow = await loadArrow();
  const file = new ArrowFile(arrow);
  let fields: readonly Field[] | undefined;
  let rows = 0;
  for (const found of file.messages()) {
    if ('schema' in found) fields ??= found.schema.fields;
    else if (!fields) throw damagedFile('its first message is not a schema');
    else if ('record' in found) rows += found.record.length;
  }
  if (!fields) throw damagedFile('it has no schema');
  if (!Number.isSafeInteger(rows)) throw damagedFile('it has an impossible number of rows');
  const schema = fields;
  return {
    // The package returns null for an unnamed field.
    columns: schema.map(({ name, type }) => ({
      name: name ?? '',
      type: `${type}`,
      dtype: dtypeOfArrow(arrow, type),
    })),
    rows,
    batches: (wanted) => batchesOf(arrow, file, schema, wanted),
  };
}

/** A column being read, with its dictionary. */
interface ColumnReading {
  readonly index: number;
  readonly dtype: Dtype;
  readonly dictionary?: { readonly id: number; readonly indexBytes: 1 | 2 | 4 | 8; values: ArrowDictionary };
}

export function* batchesOf(
  arrow: ArrowPackage,
  file: ArrowFile,
  fields: readonly Field[],
  wanted: readonly WantedColumn[],
): Generator<Batch> {
  const columns = wanted.map(({ index, dtype }) => openColumnReading(arrow, fields[index], index, dtype));
  for (const found of file.messages()) {
    if ('dictionary' in found) addDictionary(found, columns);
    if (!('record' in found)) continue;
    const { record, body } = found;
    yield* piecesOf(record, body, columns, (index) => columnPosition(arrow, fields, index, record));
  }
}

function openColumnReading(
  arrow: ArrowPackage,
  field: Field | undefined,
  index: number,
  dtype: Dtype,
): ColumnReading {
  if (!arrow.DataType.isDictionary(field?.type)) return { index, dtype };
  const { id, indices } = field.type as Dictionary;
  const indexBytes = (indices.bitWidth / 8) as 1 | 2 | 4 | 8;
  return { index, dtype, dictionary: { id, indexBytes, values: new ArrowDictionary(dtype) } };
}

function addDictionary(
  { dictionary: header, body }: FoundDictionary,
  columns: readonly ColumnReading[],
): void {
  for (const { dictionary } of columns) {
    if (dictionary?.id === header.id) dictionary.values.take(header, body);
  }
}

function* piecesOf(
  record: RecordHeader,
  body: Body,
  columns: readonly ColumnReading[],
  positionAt: (index: number) => ReturnType<typeof columnPosition>,
): Generator<Batch> {
  const open = columns.map(({ index, dtype, dictionary }) => {
    const column = new ArrowColumn(
      record,
      body,
      positionAt(index),
      dictionary?.indexBytes ?? dtypeInfo(dtype).bytes,
    );
    return { column, dictionary };
  });
  for (let begin = 0; begin < record.length; begin += BATCH_ROWS) {
    const end = Math.min(begin + BATCH_ROWS, record.length);
    const buffers = open.flatMap(({ column, dictionary }) => {
      const validity = column.validity(begin, end);
      const values = column.values(begin, end);
      return [validity, dictionary?.values.gather(values, dictionary.indexBytes, validity) ?? values];
    });
    yield { rows: end - begin, buffers };
  }
}
