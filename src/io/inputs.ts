import type { Readable } from 'node:stream';
import { UsageError } from '../util/errors.js';
import type { KeyReader } from './formats/key-file.js';
import { joined } from './joined.js';
import { type InputOptions, openKeys } from './keys.js';
import { isStdin, openSource, type Source } from './raw.js';

/**
 * Runs `use` with inputs, and closes them whatever comes of it. That they are there is known at once; what they hold is looked
 * at when `use` asks for their keys.
 *
 * @param paths files, `-` for stdin
 * @param use gets whether all of them are files, whose length is known and for which nobody has to wait
 * @throws UsageError, IoError, and what `use` throws
 */
export async function withInputs<T>(
  paths: readonly string[],
  { stdin, signal }: { readonly stdin: Readable; readonly signal: AbortSignal },
  use: (open: (options: InputOptions) => Promise<KeyReader>, areFiles: boolean) => Promise<T>,
): Promise<T> {
  if (paths.filter(isStdin).length > 1) {
    throw new UsageError("two files are '-': only one can be read from stdin");
  }
  const sources: Source[] = [];
  const readers: KeyReader[] = [];
  try {
    for (const path of paths) sources.push(await openSource(path, stdin, signal));
    const open = async (options: InputOptions): Promise<KeyReader> => {
      for (const [i, source] of sources.entries()) {
        readers.push(await openKeys(source, paths[i] ?? '', { ...options, signal }));
      }
      return joined(readers);
    };
    return await use(
      open,
      sources.every(({ bytes }) => bytes !== undefined),
    );
  } finally {
    for (const one of [...readers, ...sources]) await one.close();
  }
}
