/** Reads NDJSON files as tables. The columns are the names of all lines. */

import type { Source } from '../../streams/raw.js';
import type { FoundField } from '../subprocess/protocol.js';
import type { SubprocessKind } from '../subprocess/subprocess-kind.js';
import { ColumnProfile } from './column-profile.js';
import { JsonColumns, JsonLines, pathOf } from './json-lines.js';
import { NumberScanner } from './number-style.js';
import type { TextReadOptions } from './text-options.js';
import { TextSource } from './text-source.js';
import { markMissing, profileColumns, type TextChunk, type TextTable } from './text-table.js';
import type { Values } from './values.js';

export class NdjsonTable implements TextTable {
  readonly name: string;
  readonly kind: SubprocessKind;
  readonly options: TextReadOptions;
  readonly delimiter = undefined;
  readonly hasHeader = false;
  readonly header = undefined;
  readonly notes = [];
  readonly #text: TextSource;
  readonly #columns = new JsonColumns();
  readonly #paths: string[] = [];
  readonly #profiles: ColumnProfile[] = [];
  #rows = 0;
  #lineEnd = '\n';

  private constructor(text: TextSource, kind: SubprocessKind, options: TextReadOptions) {
    this.#text = text;
    this.name = text.name;
    this.kind = kind;
    this.options = options;
  }

  /**
   * Opens a file and reads all lines once, to find the columns and their types.
   *
   * @throws FormatError when the file cannot be parsed
   * @throws IoError when reading fails
   */
  static async open(
    kind: SubprocessKind,
    source: Source,
    { signal, ...options }: TextReadOptions & { readonly signal?: AbortSignal | undefined },
  ): Promise<NdjsonTable> {
    const text = await TextSource.open(source, signal);
    const table = new NdjsonTable(text, kind, options);
    try {
      await table.#scanAll();
      return table;
    } catch (error) {
      await text.close();
      throw error;
    }
  }

  async #scanAll(): Promise<void> {
    const scanner = new NumberScanner(this.options);
    for await (const chunk of this.chunks()) {
      if (this.#rows === 0 && chunk.bytes[chunk.ends[0] as number] === 0x0d) this.#lineEnd = '\r\n';
      this.#rows += chunk.rows;
      for (let column = 0; column < this.#columns.names.length; column++) {
        const profile = this.#profiles[column] ?? new ColumnProfile(scanner, true);
        this.#profiles[column] = profile;
        profile.add(markMissing(chunk.values(column), this.options.na));
      }
    }
  }

  get rows(): number {
    return this.#rows;
  }

  get mark(): string {
    return this.#text.hasMark ? '\ufeff' : '';
  }

  get lineEnd(): string {
    return this.#lineEnd;
  }

  /** The names of all lines, followed by the requested paths. */
  get fields(): readonly FoundField[] {
    return [...this.#columns.names, ...this.#paths].map((name) => ({
      name,
      type: { is: 'text' },
      text: 'json',
    }));
  }

  /** Number of fields that are names. */
  get names(): number {
    return this.#columns.names.length;
  }

  /** Adds a path such as `/user/id` as a column, unless a column has that name. */
  requestPath(name: string): void {
    if (!pathOf(name) || this.#columns.names.includes(name) || this.#paths.includes(name)) return;
    if (this.#columns.names.includes(pathOf(name)?.[0] ?? '')) this.#paths.push(name);
  }

  async *chunks(): AsyncGenerator<TextChunk> {
    const lines = new JsonLines(this.name, this.#columns);
    const take = (bytes: Uint8Array, isLast: boolean): { used: number; found: TextChunk } => {
      const used = lines.split(bytes, isLast);
      return { used, found: this.#chunk(lines, bytes) };
    };
    for await (const chunk of this.#text.windows(take)) if (chunk.rows > 0) yield chunk;
  }

  #chunk(lines: JsonLines, bytes: Uint8Array): TextChunk {
    const known = new Map<number, Values>();
    const find = (column: number): Values => {
      const path = this.#paths[column - this.#columns.names.length];
      return path === undefined ? lines.values(column) : lines.valuesAt(pathOf(path) as string[]);
    };
    return {
      rows: lines.rows,
      bytes,
      begins: lines.begins,
      ends: lines.ends,
      hasMissingFields: false,
      values(column) {
        const values = known.get(column) ?? find(column);
        known.set(column, values);
        return values;
      },
    };
  }

  async profile(columns: readonly number[]): Promise<readonly ColumnProfile[]> {
    if (columns.every((column) => column < this.names))
      return columns.map((column) => this.#profiles[column] as ColumnProfile);
    return profileColumns(this, columns);
  }

  skipSummary(): readonly string[] {
    return [];
  }

  close(): Promise<void> {
    return this.#text.close();
  }
}
