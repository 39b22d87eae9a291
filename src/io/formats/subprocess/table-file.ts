/** A table that a subprocess reads. */
import { FormatError } from '../../../util/errors.js';
import type { Source } from '../../streams/raw.js';
import type { Batch, FoundField, TableMessage, WantedBatches } from './protocol.js';
import { ReaderProcess } from './reader-process.js';
import { spoolSource } from './spool.js';
import type { BinaryKind } from './subprocess-kind.js';

export interface TableFile {
  readonly name: string;
  readonly kind: BinaryKind;
  readonly fields: readonly FoundField[];
  /** Total number of rows; undefined if unknown before the end. */
  readonly rows: number | undefined;
  /** Key-value metadata of the file. */
  readonly metadata: Readonly<Record<string, string>> | undefined;
  /**
   * Yields all rows. Can be consumed once.
   *
   * @throws FormatError when the number of rows differs from the header
   * @throws the errors that the subprocess reports
   */
  batches(wanted: WantedBatches): AsyncGenerator<Batch>;
  /** Ends the subprocess and deletes its temporary file. */
  close(): Promise<void>;
}

/**
 * Opens a table in a subprocess. A stream is first copied to a temporary file.
 *
 * @throws FormatError when the file is damaged
 * @throws IoError when reading fails or the subprocess crashes
 * @throws MemoryError when the subprocess exceeds its memory limit
 * @throws PackageError when the package for the format is not installed
 * @throws UnsupportedError when the platform cannot run the subprocess
 */
export async function openTableFile(
  kind: BinaryKind,
  source: Source,
  signal: AbortSignal | undefined,
): Promise<TableFile> {
  const { name } = source;
  const temporary = source.fd === undefined ? await spoolSource(source, signal) : undefined;
  let child: ReaderProcess | undefined;
  const close = async (): Promise<void> => {
    await child?.close();
    await temporary?.close();
  };
  try {
    const reader = new ReaderProcess({
      name,
      what: 'read',
      fd: source.fd ?? (temporary?.fd as number),
      signal,
    });
    child = reader;
    await reader.send({ message: { is: 'read', format: kind.format } });
    const frame = await reader.receive();
    const { fields, rows, metadata } = ('message' in frame ? frame.message : frame) as TableMessage;
    const batches = (wanted: WantedBatches) => batchesOf(reader, name, rows, wanted);
    return { name, kind, fields, rows: rows ?? undefined, metadata, batches, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function* batchesOf(
  child: ReaderProcess,
  name: string,
  rows: number | null,
  wanted: WantedBatches,
): AsyncGenerator<Batch> {
  await child.send({ message: wanted });
  let n = 0;
  for (;;) {
    const frame = await child.receive();
    if ('message' in frame) break;
    n += frame.batch.rows;
    yield frame.batch;
  }
  if (rows === null || n === rows) return;
  throw new FormatError(`cannot read ${name}: it declares ${rows} rows, and has ${n}`);
}
