/** Files of keys: what is sorted, checked and written, once it is clear that it is nothing else. */
import { stat } from 'node:fs/promises';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import { FormatError, UsageError } from '../util/errors.js';
import { unknownName } from '../util/suggest.js';
import { type FileFormat, formatOfBytes, formatOfName, HEAD_BYTES, TAIL_BYTES } from './formats/format.js';
import { isStdin, isStdout, type Source } from './raw.js';
import { targetOf } from './target.js';

/** How files are taken: `raw`, as keys whatever they look like; `auto`, as raw keys unless they look otherwise. */
export const KEY_FORMATS = ['auto', 'raw'] as const;

export type KeyFormat = (typeof KEY_FORMATS)[number];

/** @throws UsageError for an unknown format */
export function keyFormat(name: string): KeyFormat {
  const found = KEY_FORMATS.find((known) => known === name);
  if (found) return found;
  throw new UsageError(unknownName('format', name, KEY_FORMATS));
}

/** The most keys that a file of raw ones holds, by its size; undefined for what has none, such as a pipe. */
export async function mostKeysOf(path: string, keyBytes: number): Promise<number | undefined> {
  const stats = isStdin(path) ? undefined : await stat(path).catch(() => undefined);
  return stats?.isFile() ? Math.floor(stats.size / keyBytes) : undefined;
}

/** A name, and the name of what it is linked to. */
const namesOf = async (path: string): Promise<string[]> => [path, await targetOf(path).catch(() => path)];

async function formatOfNames(path: string): Promise<{ format: FileFormat; name: string } | undefined> {
  for (const name of await namesOf(path)) {
    const format = formatOfName(name);
    if (format) return { format, name };
  }
  return undefined;
}

const ANYWAY = 'if it is raw keys all the same, say so: --format raw, or "format": "raw" in a batch\'s job';

/**
 * Refuses a source that is no raw keys, by its name or by its first and last bytes: its header would be sorted
 * as if it were keys. Keys of one byte are not judged by what they are: any bytes may be meant.
 *
 * @throws FormatError; `details.found` names the format
 */
export async function assertRawInput(
  source: Source,
  path: string,
  { dtype, format = 'auto' }: { readonly dtype: Dtype; readonly format?: KeyFormat | undefined },
): Promise<void> {
  if (format === 'raw') return;
  const named = isStdin(path) ? undefined : await formatOfNames(path);
  if (named) throw refusal(path, named.format, `the name ${named.name} says that it is ${named.format.name}`);
  if (dtypeInfo(dtype).bytes === 1) return;
  const found = formatOfBytes(await source.head(HEAD_BYTES), await source.tail(TAIL_BYTES));
  if (found) throw refusal(source.name, found, `${source.name} begins as ${found.name} does`);
}

const refusal = (path: string, { name }: FileFormat, why: string): FormatError =>
  new FormatError(`${why}, and only raw keys are read so far. Take the numbers out of it first; ${ANYWAY}`, {
    details: { path, found: name, expected: 'raw keys' },
  });

/**
 * Refuses a name that says that the file is something else than the raw keys that would be written to it.
 *
 * @throws FormatError
 */
export async function assertRawOutput(path: string, format: KeyFormat = 'auto'): Promise<void> {
  if (format === 'raw' || isStdout(path)) return;
  const named = await formatOfNames(path);
  if (!named) return;
  throw new FormatError(
    `the name ${named.name} says that it is ${named.format.name}, and raw keys would be written to it. ` +
      `Name another output; ${ANYWAY}`,
    { details: { path, found: named.format.name, expected: 'raw keys' } },
  );
}
