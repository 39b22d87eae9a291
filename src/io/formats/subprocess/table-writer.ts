/** Writes a table in a subprocess. */
import type { FileHandle } from 'node:fs/promises';
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

const compressionOf = (name: string): Compression | undefined =>
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
 * Returns the check that reads all columns back. Undefined if rows change on the way: Parquet has no second
 * resolution.
 */
function readBackOf({ format }: BinaryKind, { fields, layout }: TableContents): ReadBack | undefined {
  const columns = [...fields.keys()];
  if (layout === 'columns') return new ReadBack({ format, ask: { is: 'columns', columns } });
  if (format === 'parquet' && fields.flatMap(leavesOf).some(hasSeconds)) return undefined;
  return new ReadBack({ format, ask: { is: 'rows', columns, keys: [], distinct: null }, fields });
}

/** A table that a subprocess writes. */
export class TableWriter {
  readonly #child: ReaderProcess;
  readonly #output: Output;
  readonly #temporary: FileHandle | undefined;
  readonly #readBack: ReadBack | undefined;
  #rows = 0;

  private constructor(
    child: ReaderProcess,
    output: Output,
    temporary: FileHandle | undefined,
    readBack: ReadBack | undefined,
  ) {
    this.#child = child;
    this.#readBack = readBack;
    this.#output = output;
    this.#temporary = temporary;
    output.discardSignal?.addEventListener('abort', () => void this.#close()); // stops writing when discarded
  }

  /**
   * Starts a subprocess on an output. A stream output gets a temporary file, which is copied at the end.
   *
   * @throws IoError when the subprocess cannot be used
   * @throws PackageError when the package for the format is not installed
   */
  static async create(
    kind: SubprocessKind,
    output: Output,
    contents: TableContents,
    { header, delimiter = kind.delimiter, signal, verify = false }: TableWriteOptions,
  ): Promise<TableWriter> {
    const { name, discardSignal } = output;
    const { format, isText } = kind;
    const signals = [signal, discardSignal].filter((one) => one !== undefined);
    const temporary = output.fd === undefined ? await spool() : undefined;
    let child: ReaderProcess | undefined;
    try {
      const fd = output.fd ?? (temporary?.fd as number);
      child = new ReaderProcess({ name, what: 'write', fd, signal: AbortSignal.any(signals) });
      const compression = isText ? compressionOf(name) : undefined;
      await child.send({ message: { is: 'write', format, ...contents, header, delimiter, compression } });
      const readBack = verify && !isText ? readBackOf(kind, contents) : undefined;
      return new TableWriter(child, output, temporary, readBack);
    } catch (error) {
      await child?.close();
      await temporary?.close();
      throw error;
    }
  }

  /** Sends a batch, whose buffers the caller may reuse when the promise resolves. On failure the subprocess is closed. */
  async write(batch: Batch): Promise<void> {
    try {
      this.#readBack?.add(batch);
      await this.#child.send({ batch });
      this.#rows += batch.rows;
    } catch (error) {
      await this.#close();
      throw error;
    }
  }

  /** @throws IoError when some rows were not written, or the file differs when read back */
  async end(): Promise<void> {
    const rows = this.#rows;
    try {
      await this.#child.send({ message: { is: 'end', rows } });
      const frame = await this.#child.receive();
      const written = 'message' in frame && frame.message.is === 'end' ? frame.message.rows : undefined;
      if (written !== rows) {
        throw new IoError(`cannot write ${this.#output.name}: only ${written} of ${rows} rows were written`);
      }
      const fd = this.#output.fd ?? (this.#temporary?.fd as number);
      const { name, discardSignal = new AbortController().signal } = this.#output;
      await this.#readBack?.compare({ name, fd, signal: discardSignal });
      if (this.#temporary) await copySpool(this.#temporary, this.#output);
    } finally {
      await this.#close();
    }
  }

  async #close(): Promise<void> {
    await this.#child.close();
    await this.#temporary?.close();
  }
}
