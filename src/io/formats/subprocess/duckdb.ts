/** DuckDB as a writer of one file, and nothing else. Runs in the child. */
import { availableParallelism } from 'node:os';
import type { DuckDBConnection, DuckDBType } from '@duckdb/node-api';
import type { Dtype } from '../../../keys/dtype.js';
import { IoError, MemoryError } from '../../../util/errors.js';
import { optionalPackage } from '../../../util/optional-package.js';
import { FD } from './protocol.js';

export type DuckDB = typeof import('@duckdb/node-api');

/** Memory that DuckDB takes for its buffers; what it cannot do in that it refuses. */
const MEMORY_LIMIT = '384MB';
const MAX_THREADS = 4;

/** The file, by the only name that statements have for it: names that users give never get here. */
export const FILE = `'/dev/fd/${FD.file}'`;

/** A text in a statement. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A name in a statement. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** What DuckDB calls the types of keys. There are no halves: they are floats on the way. */
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

/** A database in memory that sees the file and nothing else, loads nothing, and cannot be told otherwise. */
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

/** Where DuckDB's words about a file end, and those about statements and options begin, which users do not see. */
const INTERNAL_ADVICE =
  /\n\s*LINE \d+:|\nPossible |\n\s*Column \S+ is being converted|\nThis can be due|\n?Try |; Suggestion/;
/** Characters of DuckDB's words that are passed on: it quotes lines of any length. */
const MAX_MESSAGE_LENGTH = 600;

/** What DuckDB says, as an error of ours where it is one of memory or of the disk. */
export function duckdbError(cause: unknown): unknown {
  const { message = '' } = cause instanceof Error ? cause : {};
  const [, kind, text = ''] = /^([A-Z][\w ]*) Error: (.*)$/s.exec(message) ?? [];
  if (kind === undefined) return cause;
  const [quotedMessage = ''] = text.split(INTERNAL_ADVICE);
  const line = quotedMessage.trim().replaceAll(/\s*\n\s*/g, '; ');
  const short = line.length > MAX_MESSAGE_LENGTH ? `${line.slice(0, MAX_MESSAGE_LENGTH)}…` : line;
  if (kind === 'Out of Memory') return new MemoryError(`too little memory: ${short}`, { cause });
  const isFull = kind === 'IO' && /No space left|File too large|Disk quota/i.test(text);
  return isFull ? new IoError(short, { cause }) : new Error(short, { cause });
}

/** The values of a column of numbers, as DuckDB holds them; to be copied before its chunk is gone. */
export type Items = Uint8Array | Uint16Array | Uint32Array | BigUint64Array | Float32Array | Float64Array;

/** A vector with what its class keeps to itself: its memory, and the bits of rows that are no null, 64 a word. */
interface OpenVector {
  readonly items: Items;
  readonly validity: { readonly data: BigUint64Array | null };
}

/** @throws Error when the package keeps its memory otherwise */
export function openVector(vector: object): OpenVector {
  const { items, validity } = vector as Partial<OpenVector>;
  if (!ArrayBuffer.isView(items) || validity?.data === undefined) {
    throw new Error('this version of @duckdb/node-api gives no access to its vectors');
  }
  return { items, validity };
}

/** The types of this version by their names. */
export const typeOf = (duckdb: DuckDB, dtype: Dtype): DuckDBType =>
  (duckdb as unknown as Record<string, DuckDBType>)[SQL_TYPES[dtype]] as DuckDBType;
