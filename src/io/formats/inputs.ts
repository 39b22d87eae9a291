import type { Readable } from 'node:stream';
import type { FileCalls } from '../streams/file-calls.js';
import type { FileHashes } from '../streams/file-hash.js';
import { assertOneStdin, openSource, type Source } from '../streams/raw.js';
import { concatenateReaders } from './concatenate-readers.js';
import type { AnyTable, KeyReader } from './key-file.js';
import { type InputOptions, openKeys } from './keys.js';

/** Opens the readers of all sources. */
export type OpenReaders = (options: InputOptions) => Promise<readonly KeyReader[]>;

interface Streams {
  readonly stdin: Readable;
  readonly signal: AbortSignal;
  readonly hashes?: FileHashes | undefined;
  readonly files?: FileCalls | undefined;
}

/**
 * Runs `use` with the inputs and closes them afterwards. Missing files raise an error at once; the contents are
 * examined when `use` opens the readers.
 *
 * @param paths files, `-` for stdin
 * @param streams stdin, signal and hashes
 * @param use receives the function that opens the readers, whether all inputs are files of known length, and the list that
 * gets the tables whose columns turn out not to be keys
 * @throws UsageError when several paths are `-`
 * @throws IoError when an input cannot be opened
 * @throws errors of `use`
 */
export async function withReaders<T>(
  paths: readonly string[],
  { stdin, signal, hashes, files }: Streams,
  use: (open: OpenReaders, areFiles: boolean, tables: readonly AnyTable[]) => Promise<T>,
): Promise<T> {
  assertOneStdin(paths);
  const sources: Source[] = [];
  const readers: KeyReader[] = [];
  const tables: AnyTable[] = [];
  try {
    for (const path of paths) {
      const hash = hashes?.forInput(path);
      sources.push(await openSource(path, stdin, signal, { hash, files }));
    }
    const open: OpenReaders = async (options) => {
      for (const [i, source] of sources.entries()) {
        readers.push(await openKeys(source, paths[i] ?? '', { ...options, signal, tables }));
      }
      return readers;
    };
    return await use(
      open,
      sources.every(({ bytes }) => bytes !== undefined),
      tables,
    );
  } finally {
    for (const one of [...readers, ...tables, ...sources]) await one.close();
  }
}

/** Runs `use` as `withReaders` does, with all inputs concatenated. */
export const withInputs = <T>(
  paths: readonly string[],
  streams: Streams,
  use: (
    open: (options: InputOptions) => Promise<KeyReader>,
    areFiles: boolean,
    tables: readonly AnyTable[],
  ) => Promise<T>,
): Promise<T> =>
  withReaders(paths, streams, (open, ...rest) =>
    use(async (options) => concatenateReaders(await open(options)), ...rest),
  );

/**
 * Opens an input as keys, or as a table if its columns are not a single one of keys. A dtype or a column in the options
 * demands keys.
 *
 * @param open with `tables`, the arguments of `use` in `withInputs`, which closes the table
 * @throws errors of `open`
 */
export async function keysOrTable(
  open: (options: InputOptions) => Promise<KeyReader>,
  tables: readonly AnyTable[],
  options: InputOptions,
): Promise<KeyReader | AnyTable> {
  try {
    return await open(options);
  } catch (error) {
    const [table] = tables;
    if (table && options.dtype === undefined && options.column === undefined) return table;
    throw error;
  }
}
