/** Writes Arrow IPC files and streams via apache-arrow. Runs in the subprocess. */
import { writeSync } from 'node:fs';
import type { DataType, RecordBatch, RecordBatchWriter, Schema } from 'apache-arrow';
import type { Dtype } from '../../../keys/dtype.js';
import { type ArrowPackage, loadArrow } from './arrow-file.js';
import type { ColumnSource } from './column-reader.js';
import { BUFFERS_PER_COLUMN, FD, type SubprocessFormat, type WriteMessage } from './protocol.js';

const TYPES = {
  u8: 'Uint8',
  i8: 'Int8',
  u16: 'Uint16',
  i16: 'Int16',
  f16: 'Float16',
  u32: 'Uint32',
  i32: 'Int32',
  f32: 'Float32',
  u64: 'Uint64',
  i64: 'Int64',
  f64: 'Float64',
} as const satisfies Record<Dtype, keyof ArrowPackage>;

/** Returns a writer of record batches that writes synchronously; `finish` completes the file. */
export function arrowWriter(
  arrow: ArrowPackage,
  format: SubprocessFormat,
  schema: Schema,
): RecordBatchWriter {
  /** Writes chunks to the file synchronously. */
  class FileSink extends arrow.AsyncByteQueue {
    override write(chunk: Uint8Array): void {
      for (let at = 0; at < chunk.length; ) at += writeSync(FD.file, chunk, at);
    }
  }
  /** Adds the leading schema, which the package omits in files but stream readers require. */
  class FileWriter extends arrow.RecordBatchFileWriter {
    protected override _writeSchema(of: Schema): this {
      return super._writeSchema(of)._writeMessage(arrow.Message.from(of));
    }
  }
  const writer = format === 'arrows' ? new arrow.RecordBatchStreamWriter() : new FileWriter();
  writer.reset(new FileSink(), schema);
  return writer;
}

/**
 * Writes all batches in order.
 *
 * @returns the number of rows written
 */
export async function writeArrow({ format }: WriteMessage, source: ColumnSource): Promise<number> {
  const arrow = await loadArrow();
  const { schema, next } = keyBatches(arrow, source);
  const writer = arrowWriter(arrow, format, schema);
  let rows = 0;
  for (let batch = next(); batch; batch = next()) {
    writer.write(batch);
    rows += batch.numRows;
  }
  writer.finish();
  return rows;
}

/** Converts batches of keys to record batches, one at a time. */
export function keyBatches(
  arrow: ArrowPackage,
  source: ColumnSource,
): { readonly schema: Schema; next(): RecordBatch | undefined } {
  const types: DataType[] = source.columns.map(({ dtype }) => new arrow[TYPES[dtype]]());
  const schema = new arrow.Schema(
    source.columns.map(({ name }, i) =>
      arrow.Field.new({ name, type: types[i] as DataType, nullable: false }),
    ),
  );
  const next = (): RecordBatch | undefined => {
    const batch = source.next();
    if (!batch) return undefined;
    const { rows: length, buffers } = batch;
    const children = types.map((type, i) => {
      const bytes = buffers[i * BUFFERS_PER_COLUMN + 1] as Uint8Array;
      const data = new type.ArrayType(bytes.buffer, bytes.byteOffset, length);
      return arrow.makeData({ type, length, nullCount: 0, data } as never);
    });
    const type = new arrow.Struct(schema.fields);
    const data = arrow.makeData({ type, length, nullCount: 0, children } as never);
    return new arrow.RecordBatch(schema, data as never);
  };
  return { schema, next };
}
