/** A restricted DuckDB instance that only writes one file. Runs in the subprocess. */
import { availableParallelism } from 'node:os';
import type { DuckDBConnection, DuckDBType } from '@duckdb/node-api';
import type { Dtype } from '../../../keys/dtype.js';
import { IoError, MemoryError } from '../../../util/errors.js';
import { optionalPackage } from '../../../util/optional-package.js';
import { FD } from './protocol.js';

export type DuckDB = typeof import('@duckdb/node-api');

/** Memory limit of DuckDB's buffers; statements that need more fail. */
const MEMORY_LIMIT = '384MB';
/** Maximum number of threads: each of them needs buffers within the memory limit. */
const MAX_THREADS = 4;

/** Path of the file in SQL statements. User-supplied paths never reach a statement. */
export const FILE = `'/dev/fd/${FD.file}'`;

/** Returns a quoted SQL string literal. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Returns a quoted SQL identifier. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** DuckDB type of each dtype. f16 is converted to FLOAT. */
export const SQL_TYPES: Readonly<Record<Dtype, string>> = {
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

/** @throws PackageError when the package is not installed */
export const loadDuckdb = (): Promise<DuckDB> =>
  optionalPackage('@duckdb/node-api', 'this format', () => import('@duckdb/node-api'));

/** Opens an in-memory database that can access only the file, loads no extensions, and has a locked configuration. */
export async function connect({ DuckDBInstance }: DuckDB): Promise<DuckDBConnection> {
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(Math.min(MAX_THREADS, availableParallelism())),
    memory_limit: MEMORY_LIMIT,
    temp_directory: '',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
    allow_persistent_secrets: 'false',
  });
  const connection = await instance.connect();
  await connection.run(`SET allowed_paths = [${FILE}]`);
  await connection.run('SET enable_external_access = false');
  await connection.run('SET lock_configuration = true');
  return connection;
}

/** Matches the start of DuckDB's advice about statements and options, which is not shown to users. */
const INTERNAL_ADVICE =
  /\n\s*LINE \d+:|\nPossible |\n\s*Column \S+ is being converted|\nThis can be due|\n?Try |; Suggestion/;
/** Maximum length of a DuckDB message that is passed on; DuckDB quotes lines of any length. */
const MAX_MESSAGE_LENGTH = 600;

/** Converts a DuckDB error. Memory and disk errors become a MemoryError or an IoError. */
export function duckdbError(cause: unknown): unknown {
  const { message = '' } = cause instanceof Error ? cause : {};
  const [, kind, text = ''] = /^([A-Z][\w ]*) Error: (.*)$/s.exec(message) ?? [];
  if (kind === undefined) return cause;
  const [quotedMessage = ''] = text.split(INTERNAL_ADVICE);
  const line = quotedMessage.trim().replaceAll(/\s*\n\s*/g, '; ');
  const short = line.length > MAX_MESSAGE_LENGTH ? `${line.slice(0, MAX_MESSAGE_LENGTH)}…` : line;
  if (kind === 'Out of Memory') return new MemoryError(`memory is insufficient: ${short}`, { cause });
  const isFull = kind === 'IO' && /No space left|File too large|Disk quota/i.test(text);
  return isFull ? new IoError(short, { cause }) : new Error(short, { cause });
}

/** Values of a numeric column in DuckDB's memory; valid only until the chunk is released. */
export type Items = Uint8Array | Uint16Array | Uint32Array | BigUint64Array | Float32Array | Float64Array;

/** A vector with its private fields: the values, and the validity bits, 64 per word. */
interface OpenVector {
  readonly items: Items;
  readonly validity: { readonly data: BigUint64Array | null };
}

/** @throws Error when this version of the package has other private fields */
export function openVector(vector: object): OpenVector {
  const { items, validity } = vector as Partial<OpenVector>;
  if (!ArrayBuffer.isView(items) || validity?.data === undefined) {
    throw new Error('this version of @duckdb/node-api does not expose its vectors');
  }
  return { items, validity };
}

/** Returns the DuckDB type object of a dtype. */
export const typeOf = (duckdb: DuckDB, dtype: Dtype): DuckDBType =>
  (duckdb as unknown as Record<string, DuckDBType>)[SQL_TYPES[dtype]] as DuckDBType;
