/** Reads CSV and TSV files as tables. */

import { tableFunctions } from '../../../sort/host/native-tables.js';
import type { Source } from '../../streams/raw.js';
import type { FoundField } from '../subprocess/protocol.js';
import type { SubprocessKind } from '../subprocess/subprocess-kind.js';
import type { ColumnProfile } from './column-profile.js';
import { type CsvDialect, csvDialect, putField, splitOptions } from './csv-dialect.js';
import { unquoteField } from './csv-field.js';
import { CsvSplitter } from './csv-splitter.js';
import type { TextReadOptions } from './text-options.js';
import { TextSource } from './text-source.js';
import { profileColumns, type TextChunk, type TextTable } from './text-table.js';
import { FORM, ValueArrays, type Values } from './values.js';

export class CsvTable implements TextTable {
  readonly name: string;
  readonly kind: SubprocessKind;
  readonly options: TextReadOptions;
  readonly fields: readonly FoundField[];
  readonly delimiter: string;
  readonly hasHeader: boolean;
  readonly mark: string;
  readonly header: Uint8Array | undefined;
  readonly lineEnd: string;
  readonly notes: readonly string[];
  readonly #text: TextSource;
  #splitter: CsvSplitter | undefined;

  private constructor(text: TextSource, kind: SubprocessKind, dialect: CsvDialect, options: TextReadOptions) {
    this.#text = text;
    this.name = text.name;
    this.kind = kind;
    this.options = options;
    this.fields = dialect.names.map((name) => ({ name, type: { is: 'text' }, text: 'text' }));
    this.delimiter = dialect.delimiter;
    this.hasHeader = dialect.hasHeader;
    this.header = dialect.header;
    this.mark = text.hasMark ? '\ufeff' : '';
    this.lineEnd = dialect.lineEnd;
    this.notes = dialect.notes;
  }

  /**
   * Opens a CSV file and detects its dialect.
   *
   * @throws FormatError when the file cannot be parsed
   * @throws IoError when reading fails
   */
  static async open(
    kind: SubprocessKind,
    source: Source,
    options: TextReadOptions & { readonly signal?: AbortSignal | undefined },
  ): Promise<CsvTable> {
    const { signal, delimiter = kind.delimiter, ...rest } = options;
    const text = await TextSource.open(source, signal);
    try {
      const all = { ...rest, delimiter };
      return new CsvTable(text, kind, await csvDialect(text, all), all);
    } catch (error) {
      await text.close();
      throw error;
    }
  }

  get rows(): undefined {
    return undefined;
  }

  async *chunks(): AsyncGenerator<TextChunk> {
    const splitter = new CsvSplitter(splitOptions(this.name, this.delimiter, this.options));
    this.#splitter = splitter;
    const arrays = new ValueArrays();
    let names = this.hasHeader ? 1 : 0;
    const take = (bytes: Uint8Array, isLast: boolean): { used: number; found: TextChunk } => {
      const used = splitter.split(bytes, isLast);
      const from = Math.min(names, splitter.rows);
      names -= from;
      return { used, found: new CsvChunk(splitter, bytes, from, arrays) };
    };
    for await (const chunk of this.#text.windows(take)) if (chunk.rows > 0) yield chunk;
  }

  profile(columns: readonly number[]): Promise<ColumnProfile[]> {
    return profileColumns(this, columns);
  }

  skipSummary(): readonly string[] {
    const { filled = 0, skipped = 0, comments = 0 } = this.#splitter ?? {};
    const lines = (n: number): string => `${n} ${n === 1 ? 'line' : 'lines'} of ${this.name}`;
    return [
      ...(filled > 0 ? [`missing fields were added to ${lines(filled)}`] : []),
      ...(skipped > 0 ? [`another number of fields excluded ${lines(skipped)}`] : []),
      ...(comments > 0 ? [`comments excluded ${lines(comments)}`] : []),
    ];
  }

  close(): Promise<void> {
    return this.#text.close();
  }
}

class CsvChunk implements TextChunk {
  readonly rows: number;
  readonly bytes: Uint8Array;
  readonly begins: Int32Array;
  readonly ends: Int32Array;
  readonly #splitter: CsvSplitter;
  readonly #from: number;
  readonly #arrays: ValueArrays;
  readonly #values = new Map<number, Values>();

  /** @param from  index of the first record that is a row */
  constructor(splitter: CsvSplitter, bytes: Uint8Array, from: number, arrays: ValueArrays) {
    this.rows = splitter.rows - from;
    this.bytes = bytes;
    this.#splitter = splitter;
    this.#from = from;
    this.#arrays = arrays;
    this.begins = splitter.begins.subarray(from);
    this.ends = splitter.ends.subarray(from);
  }

  get hasMissingFields(): boolean {
    return this.#splitter.filled > 0;
  }

  values(column: number): Values {
    let values = this.#values.get(column);
    if (!values) {
      values = this.#find(column);
      this.#values.set(column, values);
    }
    return values;
  }

  #find(column: number): Values {
    const { firsts, fieldEnds, begins, lines, options } = this.#splitter;
    const values = {
      ...{ rows: this.rows, bytes: this.bytes, unescape: unquoteField },
      ...this.#arrays.take(column, this.rows),
      lines: lines.subarray(this.#from, this.#from + this.rows),
    };
    const width = options.delimiter.length;
    const isOnly = this.#splitter.width === 1;
    const native = tableFunctions();
    if (native) {
      const records = {
        begins: this.begins.subarray(0, this.rows),
        firsts: firsts.subarray(this.#from),
        fieldEnds,
      };
      native.findColumn(records, column, width, isOnly, values);
      return values;
    }
    for (let row = 0; row < this.rows; row++) {
      const record = this.#from + row;
      const at = (firsts[record] as number) + column;
      const begin = column === 0 ? (begins[record] as number) : (fieldEnds[at - 1] as number) + width;
      putField(values, row, begin, fieldEnds[at] as number);
      // A missing value of a single column is written as `""`, because an empty line is not a row.
      if (isOnly && values.begins[row] === values.ends[row]) values.forms[row] = FORM.missing;
    }
    return values;
  }
}
