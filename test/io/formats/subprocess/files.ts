/** Files of subprocess formats: whole files through the formats, and columns through the processes. */
import { closeSync, openSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { DuckDBInstance } from '@duckdb/node-api';
import type { KeyFacts, KeyFormat, ReadRequest, WriteOptions } from '../../../../src/io/formats/key-file.js';
import type {
  BinaryFormat,
  SubprocessFormat,
  TableMessage,
  TextOptions,
} from '../../../../src/io/formats/subprocess/protocol.js';
import { ReaderProcess } from '../../../../src/io/formats/subprocess/reader-process.js';
import { withOutput } from '../../../../src/io/streams/output.js';
import { openSource } from '../../../../src/io/streams/raw.js';
import { DTYPES, type Dtype, dtypeInfo } from '../../../../src/keys/dtype.js';
import { Random } from '../../../../src/util/random.js';

export const nothing = (): Readable => Readable.from([]);

/** Positive NaNs, for formats that do not keep the payload. */
const QUIET: Readonly<Record<string, bigint>> = { f16: 0x7e00n, f32: 0x7fc00000n, f64: 0x7ff8000000000000n };

/** Keys of any bits, special ones first; NaNs are all the same unless `payloads`. */
export function someKeys(
  dtype: Dtype,
  n: number,
  { payloads = true, seed = 1 } = {},
): Uint8Array<ArrayBuffer> {
  const { bytes, width, kind, negativeNaNs } = dtypeInfo(dtype);
  const random = new Random(seed);
  const keys = new DataView(new ArrayBuffer(n * bytes));
  const infinity = kind === 'float' ? (1n << BigInt(width - 1)) - 1n - negativeNaNs : 0n;
  const top = 1n << BigInt(width - 1);
  const special =
    kind === 'float'
      ? [0n, top, infinity, top | infinity, QUIET[dtype] ?? 0n, 1n, top | 1n, infinity - 1n]
      : [0n, top, top - 1n, 2n * top - 1n, 1n];
  for (let i = 0; i < n; i++) {
    const any = (BigInt(random.u32()) << 32n) | BigInt(random.u32());
    let bits = BigInt.asUintN(width, special[i] ?? any);
    if (kind === 'float' && !payloads && (bits & (top - 1n)) > infinity) bits = QUIET[dtype] ?? 0n;
    for (let b = 0; b < bytes; b++) keys.setUint8(i * bytes + b, Number((bits >> BigInt(8 * b)) & 255n));
  }
  return new Uint8Array(keys.buffer);
}

export interface Written extends Partial<KeyFacts> {
  readonly dtype: Dtype;
  readonly keys: Uint8Array;
  readonly options?: WriteOptions;
  /** Destination when the path is `-`. */
  readonly stdout?: Writable;
}

/** Writes a file of keys. */
export async function write(
  format: KeyFormat,
  path: string,
  { dtype, keys, options = {}, stdout = new Writable(), ...facts }: Written,
): Promise<void> {
  const { signal = new AbortController().signal } = options;
  const n = keys.length / dtypeInfo(dtype).bytes;
  await withOutput(path, { stdout, signal }, async (output) => {
    const writer = await format.create(output, { n, shape: [n], ...facts, dtype }, options);
    await writer.write(keys);
    await writer.end();
  });
}

export interface Read extends KeyFacts {
  readonly keys: Buffer;
}

/** Reads a file of keys. */
export async function read(
  format: KeyFormat,
  path: string,
  request: ReadRequest = {},
  stdin: Readable = nothing(),
): Promise<Read> {
  const source = await openSource(path, stdin, request.signal);
  try {
    const reader = await format.open(source, request);
    try {
      const pieces: Uint8Array[] = [];
      for await (const piece of reader.pieces()) pieces.push(piece);
      const { dtype, n, shape, column } = reader;
      return { dtype, n, shape, column, keys: Buffer.concat(pieces) };
    } finally {
      await reader.close();
    }
  } finally {
    await source.close();
  }
}

/** Dtypes that Arrow, Parquet and SQL have. */
export type TableDtype = Exclude<Dtype, 'bf16'>;

/** A column for each of these dtypes, all with this many rows. */
export const columnsOf = (n: number, payloads: boolean, except: readonly Dtype[] = []) =>
  DTYPES.filter((dtype) => dtype !== 'bf16')
    .filter((dtype) => !except.includes(dtype))
    .map((dtype) => ({
      name: `of ${dtype}`,
      dtype,
      keys: someKeys(dtype, n, { payloads }),
    }));

export interface Column {
  readonly name: string;
  readonly dtype: Dtype;
  readonly keys: Uint8Array;
}

/** Writes columns of any dtypes by one process. */
export async function writeColumns(
  format: SubprocessFormat,
  path: string,
  columns: readonly Column[],
  options: TextOptions = {},
): Promise<void> {
  const fd = openSync(path, 'w+');
  const child = new ReaderProcess({ name: path, what: 'write', fd });
  try {
    const fields = columns.map(({ name, dtype }) => ({
      name,
      type: { is: dtype },
      isRequired: true as const,
    }));
    await child.send({ message: { is: 'write', format, layout: 'columns', fields, ...options } });
    const [first] = columns;
    const rows = first ? first.keys.length / dtypeInfo(first.dtype).bytes : 0;
    await child.send({ batch: { rows, buffers: columns.flatMap(({ keys }) => [new Uint8Array(0), keys]) } });
    await child.send({ message: { is: 'end', rows } });
    await child.receive();
  } finally {
    await child.close();
    closeSync(fd);
  }
}

/** Reads all columns of a file by one process. */
export async function readColumns(
  format: BinaryFormat,
  path: string,
): Promise<{ table: TableMessage; columns: Buffer[] }> {
  const fd = openSync(path, 'r');
  const child = new ReaderProcess({ name: path, what: 'read', fd });
  try {
    await child.send({ message: { is: 'read', format } });
    const table = ((await child.receive()) as { message: TableMessage }).message;
    await child.send({ message: { is: 'columns', columns: [...table.fields.keys()] } });
    const parts: Uint8Array[][] = table.fields.map(() => []);
    for (;;) {
      const frame = await child.receive();
      if ('message' in frame) break;
      for (const [i, column] of parts.entries())
        column.push(frame.batch.buffers[2 * i + 1] ?? new Uint8Array(0));
    }
    return { table, columns: parts.map((column) => Buffer.concat(column)) };
  } finally {
    await child.close();
    closeSync(fd);
  }
}

/** DuckDB in this process, as an independent program. */
export async function otherDuckdb(): Promise<(sql: string) => Promise<unknown[][]>> {
  const connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
  return async (sql) => (await connection.runAndReadAll(sql)).getRows() as unknown[][];
}

/** The SQL names of the types. */
export const SQL: Readonly<Record<TableDtype, string>> = {
  u8: 'UTINYINT',
  i8: 'TINYINT',
  u16: 'USMALLINT',
  i16: 'SMALLINT',
  f16: 'FLOAT',
  u32: 'UINTEGER',
  i32: 'INTEGER',
  f32: 'FLOAT',
  u64: 'UBIGINT',
  i64: 'BIGINT',
  f64: 'DOUBLE',
};
