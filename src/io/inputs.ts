import type { Readable } from 'node:stream';
import { UsageError } from '../util/errors.js';
import { concatenateReaders } from './concatenate-readers.js';
import type { FileHashes } from './file-hash.js';
import type { KeyReader } from './formats/key-file.js';
import { type InputOptions, openKeys } from './keys.js';
import { isStdin, openSource, type Source } from './raw.js';

/** Opens what a source has: all inputs together, or each by itself. */
export type OpenReaders = (options: InputOptions) => Promise<readonly KeyReader[]>;

interface Streams {
  readonly stdin: Readable;
  readonly signal: AbortSignal;
  readonly hashes?: FileHashes | undefined;
}

/**
 * Runs `use` with inputs, each by itself, and closes them whatever comes of it. That they are there is known at once; what
 * they hold is looked at when `use` asks for their keys.
 *
 * @param paths files, `-` for stdin
 * @param use gets whether all of them are files, whose length is known and for which nobody has to wait
 * @throws UsageError, IoError, and what `use` throws
 */
export async function withReaders<T>(
  paths: readonly string[],
  { stdin, signal, hashes }: Streams,
  use: (open: OpenReaders, areFiles: boolean) => Promise<T>,
): Promise<T> {
  if (paths.filter(isStdin).length > 1) {
    throw new UsageError("two files are '-': only one can be read from stdin");
  }
  const sources: Source[] = [];
  const readers: KeyReader[] = [];
  try {
    for (const path of paths) sources.push(await openSource(path, stdin, signal, hashes?.forInput(path)));
    const open: OpenReaders = async (options) => {
      for (const [i, source] of sources.entries()) {
        readers.push(await openKeys(source, paths[i] ?? '', { ...options, signal }));
      }
      return readers;
    };
    return await use(
      open,
      sources.every(({ bytes }) => bytes !== undefined),
    );
  } finally {
    for (const one of [...readers, ...sources]) await one.close();
  }
}

/** `withReaders`, of inputs as if they were one. */
export const withInputs = <T>(
  paths: readonly string[],
  streams: Streams,
  use: (open: (options: InputOptions) => Promise<KeyReader>, areFiles: boolean) => Promise<T>,
): Promise<T> =>
  withReaders(paths, streams, (open, areFiles) =>
    use(async (options) => concatenateReaders(await open(options)), areFiles),
  );
