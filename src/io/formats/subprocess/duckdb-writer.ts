/** Writes text formats with DuckDB. Runs in the subprocess. */
import type { DuckDBDataChunk } from '@duckdb/node-api';
import type { Dtype } from '../../../keys/dtype.js';
import type { ColumnSource } from './column-reader.js';
import { connect, FILE, literal, loadDuckdb, openVector, typeOf } from './duckdb.js';
import { halvesToSingles } from './half-float.js';
import type { Batch, TextOptions, WriteMessage } from './protocol.js';
import { BUFFERS_PER_COLUMN } from './protocol.js';

/** Rows per chunk: the maximum size of a DuckDB vector. */
export const CHUNK_ROWS = 2048;

const NO_BATCH: Batch = { rows: 0, buffers: [] };

/**
 * Writes all batches in order.
 *
 * @returns the number of rows written
 */
export async function writeDuckdb(message: WriteMessage, source: ColumnSource): Promise<number> {
  const duckdb = await loadDuckdb();
  const connection = await connect(duckdb);
  let rows = 0;
  let batch = NO_BATCH;
  let at = 0;
  const mainFunction = (_info: unknown, chunk: DuckDBDataChunk): void => {
    while (at === batch.rows) {
      const next = source.next();
      if (!next) {
        chunk.rowCount = 0; // ends the scan
        return;
      }
      batch = widenHalves(next, source);
      at = 0;
    }
    const n = Math.min(CHUNK_ROWS, batch.rows - at);
    chunk.rowCount = n;
    for (let column = 0; column < source.columns.length; column++) {
      const vector = chunk.getColumnVector(column);
      const values = batch.buffers[column * BUFFERS_PER_COLUMN + 1] as Uint8Array;
      const { items } = openVector(vector);
      const width = items.BYTES_PER_ELEMENT;
      new Uint8Array(items.buffer, items.byteOffset, n * width).set(
        values.subarray(at * width, (at + n) * width),
      );
      vector.flush();
    }
    at += n;
    rows += n;
  };
  connection.registerTableFunction(
    duckdb.DuckDBTableFunction.create({
      name: 'incoming',
      bindFunction: (info) => {
        for (const { name, dtype } of source.columns) info.addResultColumn(name, typeOf(duckdb, dtype));
      },
      initFunction: (info) => info.setMaxThreads(1), // keeps the rows in batch order
      mainFunction,
    }),
  );
  await connection.run(`COPY (FROM incoming()) TO ${FILE} (${copyOptions(message).join()})`);
  return rows;
}

/** Returns the COPY options for a format. */
export function copyOptions({
  format,
  header = true,
  delimiter,
  compression,
}: TextOptions & Pick<WriteMessage, 'format'>): string[] {
  // By default DuckDB writes to a temporary name and renames.
  const options = ['USE_TMP_FILE false', `FORMAT ${format === 'ndjson' ? 'json' : format}`];
  if (compression) options.push(`COMPRESSION ${compression}`);
  if (format === 'csv') options.push(`HEADER ${header}`, `DELIMITER ${literal(delimiter ?? ',')}`);
  return options;
}

/** Widens f16 columns to f32, because DuckDB has no half-precision type. */
function widenHalves({ rows, buffers }: Batch, { columns }: ColumnSource): Batch {
  const isHalf = (i: number): boolean => i % BUFFERS_PER_COLUMN === 1 && dtypeAt(columns, i) === 'f16';
  return {
    rows,
    buffers: buffers.map((buffer, i) =>
      isHalf(i)
        ? new Uint8Array(halvesToSingles(new Uint16Array(buffer.buffer, buffer.byteOffset, rows)).buffer)
        : buffer,
    ),
  };
}

const dtypeAt = (columns: ColumnSource['columns'], buffer: number): Dtype | undefined =>
  columns[Math.floor(buffer / BUFFERS_PER_COLUMN)]?.dtype;
