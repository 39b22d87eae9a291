/** Parquet, by DuckDB. Runs in the child. */
import type { DuckDBConnection, DuckDBDataChunk } from '@duckdb/node-api';
import { dtypeInfo } from '../../../keys/dtype.js';
import type { ColumnReader } from './column-reader.js';
import { connect, loadDuckdb, opened } from './duckdb.js';
import { halvesOf } from './halves.js';
import { parquetTable } from './parquet-table.js';
import { BATCH_ROWS, type Batch, type WantedColumn } from './protocol.js';
import type { Ask } from './sql-table.js';

export async function openDuckdb(): Promise<ColumnReader> {
  const connection = await connect(await loadDuckdb());
  const ask: Ask = async (sql) =>
    (await connection.runAndReadAll(sql)).getRowObjectsJS() as Record<string, unknown>[];
  const table = await parquetTable(ask);
  return {
    columns: table.columns,
    rows: table.rows,
    batches: (wanted) => batchesOf(connection, table.select(wanted), wanted),
  };
}

async function* batchesOf(
  connection: DuckDBConnection,
  sql: string,
  wanted: readonly WantedColumn[],
): AsyncGenerator<Batch> {
  let gathered = wanted.map((column) => new Gathered(column));
  let rows = 0;
  const batch = (): Batch => ({ rows, buffers: gathered.flatMap((column) => column.buffers(rows)) });
  for await (const { chunk, n } of chunksOf(connection, sql, wanted.length)) {
    if (rows + n > BATCH_ROWS) {
      yield batch();
      gathered = wanted.map((column) => new Gathered(column));
      rows = 0;
    }
    for (const [i, column] of gathered.entries()) column.take(chunk, { column: i, at: rows, n });
    rows += n;
  }
  if (rows > 0) yield batch();
}

/** Rows of a statement: the first `n` of a chunk, until the next one is asked for. */
export interface Chunk {
  readonly chunk: DuckDBDataChunk;
  readonly n: number;
}

/**
 * The rows of a statement. One more stands behind them and says so: a stream whose statement fails on its way ends as if
 * there were no more rows.
 *
 * @param columns of the statement
 */
export async function* chunksOf(
  connection: DuckDBConnection,
  sql: string,
  columns: number,
): AsyncGenerator<Chunk> {
  const last = [...Array.from({ length: columns }, () => 'NULL'), 'CAST(1 AS TINYINT)'].join();
  const result = await connection.stream(
    `SELECT *, CAST(0 AS TINYINT) FROM (${sql}) UNION ALL SELECT ${last}`,
  );
  let isWhole = false;
  for (;;) {
    const chunk = await result.fetchChunk();
    if (!chunk || chunk.rowCount === 0) break;
    if (isWhole) throw new Error('rows came behind the last one');
    isWhole = opened(chunk.getColumnVector(columns)).items[chunk.rowCount - 1] === 1;
    const n = chunk.rowCount - (isWhole ? 1 : 0);
    if (n > 0) yield { chunk, n };
  }
  if (!isWhole) throw await failureOf(connection, sql, columns);
}

/** Why a statement gives no more rows: told by one that needs all of them and gives one. */
async function failureOf(connection: DuckDBConnection, sql: string, columns: number): Promise<Error> {
  const names = Array.from({ length: columns }, (_, i) => `v${i}`);
  try {
    await connection.run(
      `SELECT ${names.map((name) => `max(hash(${name}))`).join()} FROM (${sql}) AS t(${names.join()})`,
    );
  } catch (error) {
    return error as Error;
  }
  return new Error('DuckDB has stopped before the end, and does not say why');
}

/** Bits of 64 rows that are no nulls. */
const ALL_VALID = 2n ** 64n - 1n;

interface Taken {
  readonly column: number;
  readonly at: number;
  readonly n: number;
}

/** A column of a batch while its chunks come. */
class Gathered {
  readonly #isHalf: boolean;
  readonly #bytes: number;
  readonly #values: Uint8Array<ArrayBuffer>;
  #validity: Uint8Array | undefined;

  constructor({ dtype }: WantedColumn) {
    this.#isHalf = dtype === 'f16';
    this.#bytes = this.#isHalf ? 4 : dtypeInfo(dtype).bytes;
    this.#values = new Uint8Array(BATCH_ROWS * this.#bytes);
  }

  /** Takes the first `n` rows of a chunk's column as those from row `at` of the batch on. */
  take(chunk: DuckDBDataChunk, { column, at, n }: Taken): void {
    const { items, validity } = opened(chunk.getColumnVector(column));
    this.#values.set(new Uint8Array(items.buffer, items.byteOffset, n * this.#bytes), at * this.#bytes);
    const { data } = validity;
    if (!this.#validity && !data?.some((word, i) => word !== ALL_VALID && hasNull(word, n - i * 64))) return;
    this.#validity ??= new Uint8Array(BATCH_ROWS / 8).fill(0xff);
    for (let i = 0; i < n; i++) {
      const isValid = !data || ((data[i >> 6] ?? 0n) >> BigInt(i & 63)) & 1n;
      if (!isValid) clearBit(this.#validity, at + i);
    }
  }

  buffers(rows: number): Uint8Array[] {
    const values = this.#values.subarray(0, rows * this.#bytes);
    const halves = this.#isHalf && halvesOf(new Uint32Array(values.buffer, 0, rows));
    return [
      this.#validity?.subarray(0, Math.ceil(rows / 8)) ?? new Uint8Array(0),
      halves ? new Uint8Array(halves.buffer) : values,
    ];
  }
}

/** Whether one of the first `n` rows of a word is null; what is behind the last row means nothing. */
const hasNull = (word: bigint, n: number): boolean =>
  n > 0 && BigInt.asUintN(Math.min(n, 64), word) !== BigInt.asUintN(Math.min(n, 64), ALL_VALID);

function clearBit(bits: Uint8Array, at: number): void {
  bits[at >> 3] = (bits[at >> 3] ?? 0) & ~(1 << (at & 7));
}
