/** Files of records. */
import { assertRecordName } from '../formats/keys.js';
import { openSource, type Source } from '../streams/raw.js';

/** Options for files of records. */
export interface RecordFileOptions {
  /** `raw` accepts any file name; default `auto`, which rejects names that imply other formats. */
  readonly format?: string | undefined;
}

/**
 * Opens a file of records. Only the file name is checked, since records may contain any bytes.
 *
 * @param path path of the file, `-` for stdin
 * @param stdin stream to use for stdin
 * @param options format and signal
 * @throws FormatError when the name implies another format
 * @throws IoError when the file cannot be opened
 * @throws AbortedError when the signal aborts
 */
export async function openRecords(
  path: string,
  stdin: Parameters<typeof openSource>[1],
  { format, signal }: RecordFileOptions & { readonly signal?: AbortSignal | undefined },
): Promise<Source> {
  await assertRecordName(path, format);
  return openSource(path, stdin, signal);
}

/**
 * Rejects an output whose name implies another format.
 *
 * @throws FormatError when it does
 */
export const assertRecordOutput = (path: string, { format }: RecordFileOptions): Promise<void> =>
  assertRecordName(path, format);
