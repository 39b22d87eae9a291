/** Writes tables as Parquet via parquet-wasm. Runs in the subprocess. */
import { ftruncateSync, writeSync } from 'node:fs';
import type { RecordBatch, Schema } from 'apache-arrow';
import { leavesOf, type TableField } from '../../tables/table-type.js';
import { type ArrowPackage, loadPublicArrow } from '../arrow-file.js';
import { fileSource } from '../byte-source.js';
import { type Batch, FD, type NextBatch, type WriteMessage } from '../protocol.js';
import { recordBatch } from './arrow-table-writer.js';
import { arrowField } from './arrow-types.js';
import { loadParquet, type ParquetPackage, runDecoder } from './parquet-file.js';
import { ARROW_SCHEMA, ParquetFooter } from './parquet-footer.js';
import { annotateSchema, needsArrowSchema, storedField } from './parquet-schema.js';

/** Maximum number of rows per row group, which is held in memory until it is written. */
const GROUP_ROWS = 2 ** 17;

const NO_ROWS: Batch = { rows: 0, buffers: [] };

/**
 * Writes all rows in order.
 *
 * @returns the number of rows written
 */
export async function writeParquetTable(message: WriteMessage, next: NextBatch): Promise<number> {
  const arrow = await loadPublicArrow();
  const { fields } = message;
  const schema = new arrow.Schema(fields.map((field) => arrowField(arrow, storedField(field))));
  const parquet = await loadParquet();
  let rows = 0;
  let failure: { readonly cause: unknown } | undefined;
  /** The first batch defines the schema, so an empty one is written if there are no rows. */
  let isBegun = false;
  let isOver = false;
  const pull = (controller: ReadableStreamDefaultController): void => {
    try {
      const batch = isOver ? undefined : next();
      isOver ||= !batch; // the parent sends nothing more, so reading again would block
      if (isOver && isBegun) {
        controller.close();
        return;
      }
      isBegun = true;
      rows += batch?.rows ?? 0;
      const bytes = streamOf(arrow, schema, recordBatch(arrow, schema, message, batch ?? NO_ROWS));
      for (const one of parquet.Table.fromIPCStream(bytes).recordBatches()) controller.enqueue(one);
    } catch (cause) {
      failure = { cause };
      controller.error(cause);
    }
  };
  try {
    await runDecoder(async () => {
      const batches = new ReadableStream({ pull }, { highWaterMark: 0 });
      const written = await parquet.transformParquetStream(batches, propertiesOf(parquet, fields));
      for await (const chunk of written) {
        for (let at = 0; at < chunk.length; ) at += writeSync(FD.file, chunk, at);
      }
    });
  } catch (error) {
    throw failure ? failure.cause : error;
  }
  finish(message);
  return rows;
}

function propertiesOf(
  { WriterPropertiesBuilder, Compression }: ParquetPackage,
  fields: readonly TableField[],
): object {
  let builder = new WriterPropertiesBuilder()
    .setCompression(Compression.SNAPPY)
    .setMaxRowGroupSize(GROUP_ROWS);
  // Dictionaries compare floats as numbers, which could merge 0 and −0.
  const isFloat = ({ type }: TableField): boolean => ['f16', 'f32', 'f64'].includes(type.is);
  const floats = fields.filter((field) => leavesOf(field).some(isFloat));
  if (!floats.every(isFloat)) return builder.setDictionaryEnabled(false).build();
  for (const { name } of floats) builder = builder.setColumnDictionaryEnabled(name, false);
  return builder.build();
}

function streamOf(arrow: ArrowPackage, schema: Schema, batch: RecordBatch): Uint8Array {
  const writer = new arrow.RecordBatchStreamWriter();
  writer.reset(undefined, schema);
  writer.write(batch);
  writer.finish();
  return writer.toUint8Array(true);
}

/** Adds logical types and key-value metadata to the footer that parquet-wasm has written. */
function finish({ fields, metadata = {} }: WriteMessage): void {
  const { footer, begin } = ParquetFooter.read(fileSource());
  const { [ARROW_SCHEMA]: schema } = footer.metadata;
  annotateSchema(footer, fields);
  footer.metadata = {
    ...metadata,
    ...(schema !== undefined && fields.some(needsArrowSchema) && { [ARROW_SCHEMA]: schema }),
  };
  const { ending } = footer;
  for (let at = 0; at < ending.length; ) at += writeSync(FD.file, ending, at, ending.length - at, begin + at);
  ftruncateSync(FD.file, begin + ending.length);
}
