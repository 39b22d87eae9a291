/** A restricted DuckDB instance that only writes one file. Runs in the subprocess. */
import { availableParallelism } from 'node:os';
import type { DuckDBConnection } from '@duckdb/node-api';
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
