/** Files of records: bytes as they are, whatever these look like. */
import { assertRecordName } from './keys.js';
import { openSource, type Source } from './raw.js';

/** What is said of a file of records. */
export interface RecordFileOptions {
  /** `raw` takes and makes records whatever names say; default `auto`, which refuses names of other formats. */
  readonly format?: string | undefined;
}

/**
 * Opens a file of records. Only its name can say that it is none: records may be text, or anything else, as keys
 * of one byte may.
 *
 * @throws FormatError, IoError, AbortedError
 */
export async function openRecords(
  path: string,
  stdin: Parameters<typeof openSource>[1],
  { format, signal }: RecordFileOptions & { readonly signal?: AbortSignal | undefined },
): Promise<Source> {
  await assertRecordName(path, format);
  return openSource(path, stdin, signal);
}

/** Refuses an output whose name says another format. @throws FormatError */
export const assertRecordOutput = (path: string, { format }: RecordFileOptions): Promise<void> =>
  assertRecordName(path, format);
