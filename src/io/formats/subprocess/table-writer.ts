/** Writes a table in a subprocess. */
import { IoError } from '../../../util/errors.js';
import type { Output } from '../../streams/output.js';
import { leavesOf, type TableField } from '../tables/table-type.js';
import type { Batch, Compression, TextOptions, WriteMessage } from './protocol.js';
import { ReadBack } from './read-back.js';
import { ReaderProcess } from './reader-process.js';
import { copySpool, spool } from './spool.js';
import type { BinaryKind, SubprocessKind } from './subprocess-kind.js';

/** Compression of a text by its file extension. */
const COMPRESSIONS: Readonly<Record<string, Compression>> = { gz: 'gzip', zst: 'zstd' };

/** Returns the compression of a text by the name of its file. */
export const compressionOf = (name: string): Compression | undefined =>
  COMPRESSIONS[name.slice(name.lastIndexOf('.') + 1).toLowerCase()];

/** The content to write, except rows. */
export type TableContents = Omit<WriteMessage, 'is' | 'format' | keyof TextOptions>;

/** Text options, abort signal, and whether an Arrow or Parquet file is read back and compared. */
export interface TableWriteOptions extends Pick<TextOptions, 'header' | 'delimiter'> {
  readonly signal?: AbortSignal | undefined;
  readonly verify?: boolean | undefined;
}

const hasSeconds = ({ type }: TableField): boolean => 'unit' in type && type.unit === 's';

/**
 * Returns the check that reads all columns back. Undefined if rows change on the way: Parquet has no second resolution.
 */
function readBackOf({ format }: BinaryKind, { fields, layout }: TableContents): ReadBack | undefined {
  const columns = [...fields.keys()];
  if (layout === 'columns') return new ReadBack({ format, ask: { is: 'columns', columns } });
  if (format === 'parquet' && fields.flatMap(leavesOf).some(hasSeconds)) return undefined;
  return new ReadBack({ format, ask: { is: 'rows', columns, keys: [], distinct: null }, fields });
}

/** A table that a subprocess writes. */
export interface TableWriter {
  /** Sends a batch, whose buffers the caller may reuse when the promise resolves. On failure the subprocess ends. */
  write(batch: Batch): Promise<void>;
  /** @throws IoError when some rows were not written, or the file differs when read back */
  end(): Promise<void>;
}

/**
 * Starts a subprocess on an output. A stream output gets a temporary file, which is copied at the end.
 *
 * @throws IoError when the subprocess cannot be used
 * @throws PackageError when the package for the format is not installed
 */
export async function createTable(
  kind: SubprocessKind,
  output: Output,
  contents: TableContents,
  { header, delimiter = kind.delimiter, signal, verify = false }: TableWriteOptions,
): Promise<TableWriter> {
  const { name, discardSignal = new AbortController().signal } = output;
  const { format, isText } = kind;
  const temporary = output.fd === undefined ? await spool() : undefined;
  const fd = output.fd ?? (temporary?.fd as number);
  const either = signal ? AbortSignal.any([signal, discardSignal]) : discardSignal;
  let child: ReaderProcess | undefined;
  const close = async (): Promise<void> => {
    await child?.close();
    await temporary?.close();
  };
  /** Runs one step of writing, and ends the subprocess when it fails. */
  const attempt = async <T>(step: (subprocess: ReaderProcess) => Promise<T>): Promise<T> => {
    try {
      child ??= new ReaderProcess({ name, what: 'write', fd, signal: either });
      return await step(child);
    } catch (error) {
      await close();
      throw error;
    }
  };
  const compression = isText ? compressionOf(name) : undefined;
  const message = { is: 'write', format, ...contents, header, delimiter, compression } as const;
  await attempt((subprocess) => subprocess.send({ message }));
  discardSignal.addEventListener('abort', () => void close()); // stops writing when discarded
  const readBack = verify && !isText ? readBackOf(kind, contents) : undefined;
  let rows = 0;
  return {
    async write(batch) {
      readBack?.add(batch);
      await attempt((subprocess) => subprocess.send({ batch }));
      rows += batch.rows;
    },
    async end() {
      await attempt(async (subprocess) => {
        await subprocess.send({ message: { is: 'end', rows } });
        const frame = await subprocess.receive();
        const written = 'message' in frame && frame.message.is === 'end' ? frame.message.rows : undefined;
        if (written !== rows) {
          throw new IoError(`cannot write ${name}: only ${written} of ${rows} rows were written`);
        }
        await readBack?.compare({ name, fd, signal: discardSignal });
        if (temporary) await copySpool(temporary, output);
      });
      await close();
    },
  };
}
