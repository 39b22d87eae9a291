/** Text tables, whose rows and values are byte ranges. */

import type { FoundField } from '../subprocess/protocol.js';
import type { SubprocessKind } from '../subprocess/subprocess-kind.js';
import { ColumnProfile } from './column-profile.js';
import { NumberScanner } from './number-style.js';
import type { TextReadOptions } from './text-options.js';
import { FORM, textOf, type Values } from './values.js';

/** Some rows of a table, valid until the next chunk is requested. */
export interface TextChunk {
  readonly rows: number;
  readonly bytes: Uint8Array;
  /** Start and end of each row. */
  readonly begins: Int32Array;
  readonly ends: Int32Array;
  /** Whether rows may lack trailing fields. */
  readonly hasMissingFields: boolean;
  values(column: number): Values;
}

/** An open text table, which can be read any number of times. */
export interface TextTable {
  readonly name: string;
  readonly kind: SubprocessKind;
  readonly options: TextReadOptions;
  readonly fields: readonly FoundField[];
  /** Total number of rows; undefined if they have not been counted. */
  readonly rows: number | undefined;
  readonly delimiter: string | undefined;
  /** Whether a CSV file has a header line. */
  readonly hasHeader: boolean;
  /** Content before the rows: a byte order mark, and a header. */
  readonly mark: string;
  readonly header: Uint8Array | undefined;
  readonly lineEnd: string;
  readonly notes: readonly string[];
  /** Yields all rows; each call starts at the first one. */
  chunks(): AsyncGenerator<TextChunk>;
  /** Infers the types of columns from all their values. */
  profile(columns: readonly number[]): Promise<readonly ColumnProfile[]>;
  /** Returns messages about skipped and filled-in records, after all rows have been read. */
  skipSummary(): readonly string[];
  close(): Promise<void>;
}

/** Marks values that stand for missing ones as missing. */
export function markMissing(values: Values, na: TextReadOptions['na']): Values {
  const words = [na ?? []].flat().map((word) => Buffer.from(word));
  if (words.length === 0) return values;
  const forms = values.forms.slice();
  for (let row = 0; row < values.rows; row++) {
    if (forms[row] === FORM.missing || forms[row] === FORM.nested) continue;
    const text = textOf(values, row);
    if (words.some((word) => word.equals(text))) forms[row] = FORM.missing;
  }
  return { ...values, forms };
}

/** Reads all values of some columns, to infer their types. */
export async function profileColumns(
  table: Pick<TextTable, 'chunks' | 'options' | 'kind'>,
  columns: readonly number[],
): Promise<ColumnProfile[]> {
  const scanner = new NumberScanner(table.options);
  const profiles = columns.map(() => new ColumnProfile(scanner, table.kind.format === 'ndjson'));
  for await (const chunk of table.chunks()) {
    for (const [k, column] of columns.entries()) {
      profiles[k]?.add(markMissing(chunk.values(column), table.options.na));
    }
  }
  return profiles;
}
