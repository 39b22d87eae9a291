/** Reads tables from files as rows with codes, and writes tables from rows. */
import { DtypeError, FormatError, UsageError } from '../../util/errors.js';
import type { KeyFormat } from '../formats/key-file.js';
import { inputFormat, outputFormat } from '../formats/keys.js';
import { READABLE } from '../formats/readable.js';
import type {
  Batch,
  FoundField,
  RowsMessage,
  TableMessage,
  TextOptions,
  WriteTableMessage,
} from '../formats/subprocess/protocol.js';
import { ReadBack } from '../formats/subprocess/read-back.js';
import type { BinaryKind, SubprocessKind } from '../formats/subprocess/subprocess-kind.js';
import { type SubprocessReading, startReader } from '../formats/subprocess/subprocess-reader.js';
import { WriterProcess } from '../formats/subprocess/subprocess-writer.js';
import { leavesOf, type TableField } from '../formats/tables/table-type.js';
import { CsvTable } from '../formats/text/csv-table.js';
import { NdjsonTable } from '../formats/text/ndjson-table.js';
import { type TextReadOptions, textOptionsOf } from '../formats/text/text-options.js';
import type { TextTable } from '../formats/text/text-table.js';
import type { Output } from '../streams/output.js';
import type { Source } from '../streams/raw.js';

/** Text options for reading or writing. */
export interface TableTextOptions {
  readonly header?: boolean | undefined;
  readonly delimiter?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Returns the subprocess format of a table.
 *
 * @throws UsageError when the format holds keys only
 */
function kindOf({ subprocess, name }: KeyFormat, path: string): SubprocessKind {
  if (subprocess) return subprocess;
  const tables = READABLE.flatMap((format) => (format.subprocess ? [format.id] : []));
  throw new UsageError(
    `cannot use ${path} as a table: it is ${name}, which is not one (tables are ${tables.join(' ')}). Omit --by to sort keys`,
    { details: { path } },
  );
}

/** An open table: text, or a file that a subprocess reads. */
export type AnyTable = TextTable | TableFile;

export const isTextTable = (table: AnyTable): table is TextTable => 'chunks' in table;

/**
 * Opens a table.
 *
 * @throws FormatError when the file is damaged
 * @throws IoError when reading fails
 * @throws MemoryError when the subprocess exceeds its memory limit
 * @throws UnsupportedError when the platform cannot run the subprocess
 * @throws UsageError when the format holds keys only
 */
export async function openTable(
  source: Source,
  path: string,
  options: TextReadOptions & {
    readonly signal?: AbortSignal | undefined;
    readonly format?: string | undefined;
  },
): Promise<AnyTable> {
  const { format, signal } = options;
  const { format: found, inner } = await inputFormat(source, path, { format, signal });
  const kind = kindOf(found, source.name);
  const text = { ...textOptionsOf(options), signal };
  if (!kind.isText) return TableFile.open(kind, inner, signal);
  return (kind.format === 'csv' ? CsvTable : NdjsonTable).open(kind, inner, text);
}

/** A table that a subprocess reads. */
export class TableFile {
  readonly name: string;
  readonly kind: BinaryKind;
  readonly fields: readonly FoundField[];
  /** Total number of rows; undefined if unknown before the end. */
  readonly rows: number | undefined;
  /** Key-value metadata of the file. */
  readonly metadata: Readonly<Record<string, string>> | undefined;
  readonly #reading: SubprocessReading<TableMessage>;

  private constructor(name: string, kind: BinaryKind, reading: SubprocessReading<TableMessage>) {
    this.name = name;
    this.kind = kind;
    this.fields = reading.answer.fields;
    this.rows = reading.answer.rows ?? undefined;
    this.metadata = reading.answer.metadata;
    this.#reading = reading;
  }

  /**
   * Opens a table in a subprocess.
   *
   * @throws FormatError when the file is damaged
   * @throws IoError when reading fails
   * @throws MemoryError when the subprocess exceeds its memory limit
   * @throws UnsupportedError when the platform cannot run the subprocess
   */
  static async open(kind: BinaryKind, source: Source, signal: AbortSignal | undefined): Promise<TableFile> {
    return new TableFile(source.name, kind, await startReader('read-table', kind, source, signal));
  }

  /**
   * Yields all rows. Can be consumed once.
   *
   * @throws FormatError when the number of rows differs from the header
   * @throws the errors that the subprocess reports
   */
  async *batches(wanted: Omit<RowsMessage, 'is'>): AsyncGenerator<Batch> {
    const { child } = this.#reading;
    await child.send({ message: { is: 'rows', ...wanted } });
    let n = 0;
    for (;;) {
      const frame = await child.receive();
      if ('message' in frame) break;
      n += frame.batch.rows;
      yield frame.batch;
    }
    if (this.rows === undefined || n === this.rows) return;
    throw new FormatError(`cannot read ${this.name}: it declares ${this.rows} rows, and has ${n}`);
  }

  close(): Promise<void> {
    return this.#reading.close();
  }
}

/**
 * Returns the columns as they will be written.
 *
 * @throws DtypeError when a column has an unsupported type
 */
export function supportedFields(fields: readonly FoundField[], name: string): TableField[] {
  return fields.map((field) => {
    const { name: column, type, text, ...rest } = field;
    if (type) return { ...rest, name: column, type };
    throw new DtypeError(
      `cannot read column ${column} of ${name}: its type ${text} is not supported. Omit it with --columns`,
      { details: { path: name, column, type: text } },
    );
  });
}

/**
 * Returns the format of an output.
 *
 * @throws FormatError or UsageError when the output cannot be a table
 */
export async function tableTarget(
  path: string,
  { to, input }: { readonly to: string; readonly input: string },
): Promise<SubprocessKind> {
  return kindOf((await outputFormat(path, to, input)).format, path);
}

const hasSeconds = ({ type }: TableField): boolean => 'unit' in type && type.unit === 's';

/**
 * Returns the check that reads all columns back. Undefined if rows change on the way: Parquet has no second
 * resolution.
 */
function readBackOf({ format }: BinaryKind, fields: readonly TableField[]): ReadBack | undefined {
  if (format === 'parquet' && fields.flatMap(leavesOf).some(hasSeconds)) return undefined;
  return new ReadBack({
    open: { is: 'read-table', format },
    ask: { is: 'rows', columns: [...fields.keys()], keys: [], distinct: null },
    buffer: 3,
    fields,
  });
}

/** Writes rows to a file. */
export class TableWriter {
  readonly #writing: WriterProcess;
  readonly #readBack: ReadBack | undefined;
  #rows = 0;

  private constructor(writing: WriterProcess, readBack: ReadBack | undefined) {
    this.#writing = writing;
    this.#readBack = readBack;
  }

  static async create(
    kind: SubprocessKind,
    output: Output,
    { fields, metadata }: Omit<WriteTableMessage, 'is' | 'format' | keyof TextOptions>,
    { header, delimiter = kind.delimiter, signal, verify = false }: TableTextOptions & { verify?: boolean },
  ): Promise<TableWriter> {
    const readBack = verify && !kind.isText ? readBackOf(kind, fields) : undefined;
    const { format } = kind;
    const text = { header, delimiter };
    const writing = await WriterProcess.start(
      (compression) => ({ is: 'write-table', format, fields, metadata, ...text, compression }),
      kind,
      output,
      { signal, readBack },
    );
    return new TableWriter(writing, readBack);
  }

  /** @param bytes  the rows; the caller may reuse it when the promise resolves */
  async write(rows: number, bytes: Uint8Array): Promise<void> {
    this.#readBack?.add(bytes);
    await this.#writing.send({ rows, buffers: [bytes] });
    this.#rows += rows;
  }

  end(): Promise<void> {
    return this.#writing.end(this.#rows);
  }
}
