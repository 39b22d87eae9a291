/** Writes tables as Arrow IPC files and streams. Runs in the subprocess. */
import type { Data, DataType, RecordBatch, Schema } from 'apache-arrow';
import type { Column } from '../../tables/column-builder.js';
import { fixedBytes } from '../../tables/table-type.js';
import { type ArrowPackage, loadArrow } from '../arrow-file.js';
import { arrowWriter } from '../arrow-writer.js';
import type { Batch, NextBatch, WriteMessage } from '../protocol.js';
import { arrowField, isShort } from './arrow-types.js';
import { batchColumns } from './batch-columns.js';
import { parquetIntervals, secondsAsMs } from './parquet-values.js';

/**
 * Writes all rows in order, one record batch per batch.
 *
 * @returns the number of rows written
 */
export async function writeArrowTable(message: WriteMessage, next: NextBatch): Promise<number> {
  const { format, fields, metadata } = message;
  const arrow = await loadArrow();
  const schema = new arrow.Schema(
    fields.map((field) => arrowField(arrow, field)),
    new Map(Object.entries(metadata ?? {})),
  );
  const writer = arrowWriter(arrow, format, schema);
  let rows = 0;
  for (let batch = next(); batch; batch = next()) {
    writer.write(recordBatch(arrow, schema, message, batch));
    rows += batch.rows;
  }
  writer.finish();
  return rows;
}

export function recordBatch(
  arrow: ArrowPackage,
  schema: Schema,
  message: WriteMessage,
  batch: Batch,
): RecordBatch {
  const children = batchColumns(message, batch).map((column, k) =>
    dataOf(arrow, schema.fields[k]?.type as DataType, column),
  );
  const type = new arrow.Struct(schema.fields);
  const data = arrow.makeData({ type, length: batch.rows, nullCount: 0, children } as never);
  return new arrow.RecordBatch(schema, data as never);
}

function dataOf(arrow: ArrowPackage, type: DataType, column: Column): Data {
  const { rows: length, nulls: nullCount } = column;
  const common = { type, length, nullCount, ...(nullCount > 0 && { nullBitmap: column.validity }) };
  return arrow.makeData({ ...common, ...contentsOf(arrow, type, column) } as never) as Data;
}

function contentsOf(arrow: ArrowPackage, type: DataType, column: Column) {
  const of = column.type;
  if (of.is === 'null') return {};
  if (of.is === 'struct') {
    return {
      children: column.fields.map((field, k) => dataOf(arrow, type.children[k]?.type as DataType, field)),
    };
  }
  if (column.item) {
    const child = dataOf(arrow, type.children[0]?.type as DataType, column.item);
    return of.is === 'list of fixed length' ? { child } : { child, valueOffsets: offsetsOf(column) };
  }
  if (of.is === 'text' || of.is === 'bytes' || of.is === 'json') {
    const end = column.offsets.at(-1) ?? 0;
    return { valueOffsets: offsetsOf(column), data: column.data.subarray(0, end) };
  }
  return { data: valuesOf(arrow, type, column) };
}

const offsetsOf = ({ offsets, type }: Column): Int32Array | BigInt64Array =>
  'isLarge' in type && type.isLarge ? BigInt64Array.from(offsets, BigInt) : Int32Array.from(offsets);

/** Converts values to their Arrow representation. */
function valuesOf(
  { DataType: is }: ArrowPackage,
  type: DataType,
  { type: of, data, rows }: Column,
): ArrayBufferView {
  if (of.is === 'bool') {
    const bits = new Uint8Array(Math.ceil(rows / 8));
    for (let i = 0; i < rows; i++) if (data[i]) bits[i >> 3] = (bits[i >> 3] as number) | (1 << (i & 7));
    return bits;
  }
  let plain: Uint8Array = data.slice(0, rows * (fixedBytes(of) ?? 0));
  if (of.is === 'interval in us') plain = parquetIntervals(plain, rows);
  // Parquet has no second resolution, so seconds are stored as milliseconds.
  if (of.is === 'timestamp' || of.is === 'time') {
    if (of.unit === 's' && (is.isTimestamp(type) || is.isTime(type)) && type.unit === 1)
      plain = secondsAsMs(plain, rows);
  }
  if (of.is === 'time' && isShort(of.unit)) {
    return Int32Array.from(new BigInt64Array(plain.buffer, 0, rows), Number);
  }
  const { ArrayType } = type;
  return new ArrayType(plain.buffer, 0, Math.floor(plain.length / ArrayType.BYTES_PER_ELEMENT));
}
