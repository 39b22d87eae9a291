/** Files of tables: read as rows with codes, and written from rows. */
import { DtypeError, FormatError, UsageError } from '../../util/errors.js';
import type { KeyFormat } from '../formats/key-file.js';
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
import { inputFormat, outputFormat } from '../keys.js';
import type { Output } from '../output.js';
import type { Source } from '../raw.js';
import { CsvTable } from '../text/csv-table.js';
import { NdjsonTable } from '../text/ndjson-table.js';
import { type TextReadOptions, textOptionsOf } from '../text/text-options.js';
import type { TextTable } from '../text/text-table.js';
import { leavesOf, type TableField } from './table-type.js';

/** How texts are, or are to be. */
export interface TableTextOptions {
  readonly header?: boolean | undefined;
  readonly delimiter?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** @throws UsageError for formats of keys */
function kindOf({ subprocess, name }: KeyFormat, path: string): SubprocessKind {
  if (subprocess) return subprocess;
  const tables = READABLE.flatMap((format) => (format.subprocess ? [format.id] : []));
  throw new UsageError(
    `${path} is ${name}, which holds keys and no columns to sort by: tables are ${tables.join(' ')}; leave --by out to sort keys`,
    { details: { path } },
  );
}

/** A table that is open for reading: a text, or what another process reads. */
export type AnyTable = TextTable | TableFile;

export const isTextTable = (table: AnyTable): table is TextTable => 'chunks' in table;

/** Opens a table. @throws FormatError, IoError, MemoryError, UnsupportedError, UsageError */
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

/** A table that another process reads. */
export class TableFile {
  readonly name: string;
  readonly kind: BinaryKind;
  readonly fields: readonly FoundField[];
  /** Rows in all; undefined where that is known at the end only. */
  readonly rows: number | undefined;
  /** What the file says besides, by keys. */
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

  /** @throws FormatError, IoError, MemoryError, UnsupportedError */
  static async open(kind: BinaryKind, source: Source, signal: AbortSignal | undefined): Promise<TableFile> {
    return new TableFile(source.name, kind, await startReader('read-table', kind, source, signal));
  }

  /** All rows; to be taken once. @throws FormatError where fewer come than the file says, and as the child says */
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
    throw new FormatError(`cannot read ${this.name}: it says that it has ${this.rows} rows, and has ${n}`);
  }

  close(): Promise<void> {
    return this.#reading.close();
  }
}

/** The columns as they are to be written. @throws DtypeError that names the first one whose type is not known */
export function supportedFields(fields: readonly FoundField[], name: string): TableField[] {
  return fields.map((field) => {
    const { name: column, type, text, ...rest } = field;
    if (type) return { ...rest, name: column, type };
    throw new DtypeError(
      `the column ${column} of ${name} holds ${text}, which cannot be passed on as it is: leave it out with --columns`,
      { details: { path: name, column, type: text } },
    );
  });
}

/** What an output is written as. @throws FormatError, UsageError */
export async function tableTarget(
  path: string,
  { to, input }: { readonly to: string; readonly input: string },
): Promise<SubprocessKind> {
  return kindOf((await outputFormat(path, to, input)).format, path);
}

const hasSeconds = ({ type }: TableField): boolean => 'unit' in type && type.unit === 's';

/** How all columns are read again; undefined where rows would come back changed: Parquet has no seconds. */
function readBackOf({ format }: BinaryKind, fields: readonly TableField[]): ReadBack | undefined {
  if (format === 'parquet' && fields.flatMap(leavesOf).some(hasSeconds)) return undefined;
  return new ReadBack({
    open: { is: 'read-table', format },
    ask: { is: 'rows', columns: [...fields.keys()], keys: [], distinct: null },
    buffer: 3,
    fields,
  });
}

/** Rows on their way into a file. */
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

  /** @param bytes of so many rows; may be used again when this is fulfilled */
  async write(rows: number, bytes: Uint8Array): Promise<void> {
    this.#readBack?.add(bytes);
    await this.#writing.send({ rows, buffers: [bytes] });
    this.#rows += rows;
  }

  end(): Promise<void> {
    return this.#writing.end(this.#rows);
  }
}
