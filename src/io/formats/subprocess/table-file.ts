/** A table that a subprocess reads. */
import { FormatError } from '../../../util/errors.js';
import type { Source } from '../../streams/raw.js';
import type { Batch, FoundField, TableMessage, WantedBatches } from './protocol.js';
import { ReaderProcess } from './reader-process.js';
import { spoolSource } from './spool.js';
import type { BinaryKind } from './subprocess-kind.js';

export class TableFile {
  readonly name: string;
  readonly kind: BinaryKind;
  readonly fields: readonly FoundField[];
  /** Total number of rows; undefined if unknown before the end. */
  readonly rows: number | undefined;
  /** Key-value metadata of the file. */
  readonly metadata: Readonly<Record<string, string>> | undefined;
  readonly #child: ReaderProcess;
  /** Ends the subprocess and deletes its temporary file. */
  readonly close: () => Promise<void>;

  private constructor(
    { name, kind }: { name: string; kind: BinaryKind },
    { fields, rows, metadata }: TableMessage,
    child: ReaderProcess,
    close: () => Promise<void>,
  ) {
    this.name = name;
    this.kind = kind;
    this.fields = fields;
    this.rows = rows ?? undefined;
    this.metadata = metadata;
    this.#child = child;
    this.close = close;
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
  static async open(kind: BinaryKind, source: Source, signal: AbortSignal | undefined): Promise<TableFile> {
    const { name } = source;
    const temporary = source.fd === undefined ? await spoolSource(source, signal) : undefined;
    let child: ReaderProcess | undefined;
    const close = async (): Promise<void> => {
      await child?.close();
      await temporary?.close();
    };
    try {
      const fd = source.fd ?? (temporary?.fd as number);
      child = new ReaderProcess({ name, what: 'read', fd, signal });
      await child.send({ message: { is: 'read', format: kind.format } });
      const frame = await child.receive();
      const answer = ('message' in frame ? frame.message : frame) as TableMessage;
      return new TableFile({ name, kind }, answer, child, close);
    } catch (error) {
      await close();
      throw error;
    }
  }

  /**
   * Yields all rows. Can be consumed once.
   *
   * @throws FormatError when the number of rows differs from the header
   * @throws the errors that the subprocess reports
   */
  async *batches(wanted: WantedBatches): AsyncGenerator<Batch> {
    await this.#child.send({ message: wanted });
    let n = 0;
    for (;;) {
      const frame = await this.#child.receive();
      if ('message' in frame) break;
      n += frame.batch.rows;
      yield frame.batch;
    }
    if (this.rows === undefined || n === this.rows) return;
    throw new FormatError(`cannot read ${this.name}: it declares ${this.rows} rows, and has ${n}`);
  }
}
