/** Tables in texts: rows are ranges of bytes, and so are the values in them. */

import type { FoundField } from '../formats/subprocess/protocol.js';
import type { SubprocessKind } from '../formats/subprocess/subprocess-kind.js';
import { ColumnProfile } from './column-profile.js';
import { NumberScanner } from './number-style.js';
import type { TextReadOptions } from './text-options.js';
import { FORM, textOf, type Values } from './values.js';

/** Some rows of a table; good until the next ones are asked for. */
export interface TextChunk {
  readonly rows: number;
  readonly bytes: Uint8Array;
  /** Where each row begins and ends. */
  readonly begins: Int32Array;
  readonly ends: Int32Array;
  /** Whether rows may lack fields at their ends; how many a row lacks. */
  readonly hasMissingFields: boolean;
  missingFields(row: number): number;
  /** The values of a column. */
  values(column: number): Values;
}

/** A table in a text, open for reading as often as need be. */
export interface TextTable {
  readonly name: string;
  readonly kind: SubprocessKind;
  readonly options: TextReadOptions;
  readonly fields: readonly FoundField[];
  /** Rows in all; undefined where they have not been counted. */
  readonly rows: number | undefined;
  readonly delimiter: string | undefined;
  /** Whether a CSV has a line of names. */
  readonly hasHeader: boolean;
  /** What stands in front of the rows: a mark of the encoding, and a header. */
  readonly mark: string;
  readonly header: Uint8Array | undefined;
  readonly lineEnd: string;
  readonly notes: readonly string[];
  /** All rows; from the first one each time. */
  chunks(): AsyncGenerator<TextChunk>;
  /** What columns hold, by all of their values. */
  profile(columns: readonly number[]): Promise<readonly ColumnProfile[]>;
  /** What was left out and filled in, when all rows have been read. */
  skipSummary(): readonly string[];
  close(): Promise<void>;
}

/** Values in which some stand for missing ones. */
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

/** Looks at all values of some columns. */
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
