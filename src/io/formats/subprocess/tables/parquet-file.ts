/** A Parquet file, which parquet-wasm decodes to Arrow record batches. Runs in the subprocess. */
import { once } from 'node:events';
import type { Field } from 'apache-arrow';
import { FormatError } from '../../../../util/errors.js';
import { optionalPackage, requirePackage } from '../../../../util/optional-package.js';
import { fixedBytes, type TableType } from '../../tables/table-type.js';
import { ArrowFile, type ArrowReader, damagedFile, loadArrow } from '../arrow-file.js';
import { type ByteSource, fileSource, memorySource } from '../byte-source.js';
import { BATCH_ROWS, type FoundField } from '../protocol.js';
import { ARROW_SCHEMA, ParquetFooter, type RowGroup } from './parquet-footer.js';
import { parquetField, prepareSchema } from './parquet-schema.js';

type Stream<T> = ReadableStream<T>;

/** Arrow record batches in the decoder's memory. */
export interface Batches {
  /** Converts the batches to an Arrow stream and frees them. */
  intoIPCStream(): Uint8Array;
}

/** The rows to read: `limit` rows of some row groups from row `offset` on. Default: all. */
export interface RowRange {
  readonly rowGroups?: readonly number[];
  readonly offset?: number;
  readonly limit?: number;
}

interface ParquetFile {
  read(options: { readonly limit: number }): Promise<Batches>;
  stream(
    options: RowRange & { readonly batchSize: number; readonly columns?: readonly string[] },
  ): Promise<Stream<Batches>>;
}

/** Options for writing a file. */
export interface WriterProperties {
  setCompression(compression: number): WriterProperties;
  setMaxRowGroupSize(rows: number): WriterProperties;
  setDictionaryEnabled(isEnabled: boolean): WriterProperties;
  setColumnDictionaryEnabled(column: string, isEnabled: boolean): WriterProperties;
  build(): object;
}

/** The part of a `Blob` that the package uses. A whole one copies the bytes twice. */
interface PartialBlob {
  readonly size: number;
  slice(from?: number, to?: number): { arrayBuffer(): Promise<ArrayBuffer> };
}

/** The used subset of the package, whose own declarations require browser types. */
export interface ParquetPackage {
  readonly ParquetFile: { fromFile(file: PartialBlob): Promise<ParquetFile> };
  readonly Table: { fromIPCStream(bytes: Uint8Array): { recordBatches(): Batches[] } };
  readonly Compression: { readonly SNAPPY: number };
  readonly WriterPropertiesBuilder: new () => WriterProperties;
  transformParquetStream(batches: Stream<Batches>, properties: object): Promise<Stream<Uint8Array>>;
}

const ANY_TYPE: TableType = { is: 'null' };

const PACKAGE = 'parquet-wasm';

/** Maximum number of rows per batch, which limits its memory also for long texts. */
const TEXT_BATCH_ROWS = 2 ** 14;

/** @throws PackageError when the package is not installed */
export const loadParquet = (): Promise<ParquetPackage> =>
  optionalPackage(PACKAGE, 'this format', () => requirePackage(PACKAGE), `${PACKAGE} apache-arrow`);

/** Message prefix of a trap in the decoder, which is unusable afterwards. */
export const TRAP_MESSAGE = 'it cannot be decoded';

/**
 * Runs the decoder. A trap in one of its callbacks rejects no promise; it surfaces as an uncaught exception.
 *
 * @throws FormatError when decoding fails
 */
export async function runDecoder<T>(decode: () => Promise<T>): Promise<T> {
  const over = new AbortController();
  const trap = once(process, 'uncaughtException', over).then(([error]) => Promise.reject(error));
  try {
    return await Promise.race([decode(), trap]);
  } catch (cause) {
    if (cause instanceof FormatError) throw cause;
    const { name, message = `${cause}` } = cause as Partial<Error>;
    // The message of a trap, such as 'unreachable', is of no use.
    throw damagedFile(name === 'RuntimeError' ? TRAP_MESSAGE : message, { cause });
  } finally {
    over.abort();
  }
}

/** Columns of a batch, as a separate Arrow stream. */
export interface ParquetBatch {
  readonly file: ArrowFile;
  readonly schema: readonly Field[];
  /** Indices of the columns in the file. */
  readonly places: readonly number[];
}

export class ParquetTable {
  readonly arrow: ArrowReader;
  readonly fields: readonly FoundField[];
  readonly rows: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly rowGroups: readonly RowGroup[];
  readonly #leaves: readonly number[];
  readonly #file: ParquetFile;
  readonly #schema: readonly Field[];

  private constructor(
    arrow: ArrowReader,
    file: ParquetFile,
    schema: readonly Field[],
    footer: ParquetFooter,
    facts: Pick<ParquetTable, 'fields' | 'rows' | 'metadata'>,
  ) {
    this.arrow = arrow;
    this.#file = file;
    this.#schema = schema;
    this.fields = facts.fields;
    this.rows = facts.rows;
    this.metadata = facts.metadata;
    this.rowGroups = footer.rowGroups;
    let leaves = 0;
    this.#leaves = footer.columns.map((column) => {
      leaves += column.leaves.length;
      return leaves - column.leaves.length;
    });
  }

  /**
   * @throws FormatError when the file is damaged
   * @throws PackageError when a package is not installed
   */
  static async open(): Promise<ParquetTable> {
    const parquet = await loadParquet();
    const arrow = await loadArrow();
    const source = fileSource();
    const { footer, begin } = ParquetFooter.read(source);
    const { columns, rows, metadata } = footer;
    const { [ARROW_SCHEMA]: hint, ...others } = metadata;
    prepareSchema(footer);
    footer.metadata = {}; // hides the Arrow schema, so that the types are those of Parquet
    const { file, schema } = await runDecoder(async () => {
      const opened = await parquet.ParquetFile.fromFile(blobOf(source, begin, footer.ending));
      const empty = await opened.read({ limit: 0 });
      return { file: opened, schema: schemaOf(arrow, empty.intoIPCStream()) ?? [] };
    });
    if (schema.length !== columns.length) throw new FormatError('its columns differ from its schema');
    const hints = hint === undefined ? [] : hintsOf(arrow, hint, columns.length);
    const fields = columns.map((column, i) => parquetField(arrow, column, schema[i] as Field, hints[i]));
    return new ParquetTable(arrow, file, schema, footer, { fields, rows, metadata: others });
  }

  /**
   * Yields batches that contain at least these columns.
   *
   * @param columns  indices of the columns in the file
   * @throws FormatError when the file is damaged
   */
  async *batches(columns: readonly number[], range: RowRange = {}): AsyncGenerator<ParquetBatch> {
    const all = [...this.fields.keys()];
    const chosen = all.filter((i) => columns.includes(i));
    const isSelection = chosen.length > 0 && chosen.every((i) => this.#isSelectable(i));
    const places = isSelection ? chosen : all;
    const schema = places.map((i) => this.#schema[i] as Field);
    const names = places.map((i) => this.fields[i]?.name as string);
    const isFixed = places.every((i) => fixedBytes(this.fields[i]?.type ?? ANY_TYPE) !== undefined);
    const batchSize = isFixed ? BATCH_ROWS : TEXT_BATCH_ROWS;
    const options = { ...range, batchSize, ...(isSelection && { columns: names }) };
    const reader = (await runDecoder(() => this.#file.stream(options))).getReader();
    for (;;) {
      const { value: batch } = await runDecoder(() => reader.read());
      if (batch === undefined) return;
      const file = new ArrowFile(this.arrow, memorySource(batch.intoIPCStream()));
      yield { file, schema, places };
    }
  }

  /** Returns the index of the first leaf of a column. */
  leafOf(column: number): number {
    return this.#leaves[column] as number;
  }

  /**
   * Returns whether the name of a column selects only this column. A name also selects columns that start with it and
   * a dot.
   */
  #isSelectable(index: number): boolean {
    const name = this.fields[index]?.name ?? '';
    const selected = this.fields.filter((field) => field.name === name || field.name.startsWith(`${name}.`));
    return selected.length === 1 && !name.includes('.');
  }
}

/** Returns the file as parquet-wasm reads it: with modified metadata at its end. */
function blobOf(source: ByteSource, begin: number, ending: Uint8Array): PartialBlob {
  const size = begin + ending.length;
  const bytes = (from: number, to: number): Uint8Array<ArrayBuffer> => {
    const ofFile = source.bytes(from, Math.max(0, Math.min(to, begin) - from));
    if (to <= begin) return ofFile;
    const all = new Uint8Array(to - from);
    all.set(ofFile);
    all.set(ending.subarray(Math.max(0, from - begin), to - begin), ofFile.length);
    return all;
  };
  return {
    size,
    slice: (from = 0, to = size) => ({ arrayBuffer: async () => bytes(from, Math.min(to, size)).buffer }),
  };
}

function schemaOf(arrow: ArrowReader, bytes: Uint8Array): readonly Field[] | undefined {
  for (const found of new ArrowFile(arrow, memorySource(bytes)).messages()) {
    if ('schema' in found) return found.schema.fields;
  }
  return undefined;
}

/** Returns the fields of the embedded Arrow schema; empty if it does not match or cannot be read. */
function hintsOf(arrow: ArrowReader, hint: string, columns: number): readonly Field[] {
  try {
    const fields = schemaOf(arrow, Buffer.from(hint, 'base64')) ?? [];
    return fields.length === columns ? fields : [];
  } catch {
    return [];
  }
}
