/** Values of one column in some rows of a text: ranges of its bytes, of which nothing has been parsed. */

/** What stands at a place. */
export const FORM = {
  /** Nothing, or null. */
  missing: 0,
  /** A field without quotes; in JSON a number, true or false. */
  bare: 1,
  /** A text between quotes, in which nothing is escaped. */
  text: 2,
  /** A text between quotes with something escaped. */
  escaped: 3,
  /** A list or an object of JSON. */
  nested: 4,
} as const;

export interface Values {
  readonly rows: number;
  readonly bytes: Uint8Array;
  /** Where each value begins and ends; of texts between their quotes. */
  readonly begins: Int32Array;
  readonly ends: Int32Array;
  readonly forms: Uint8Array;
  /** Line of each row. */
  readonly lines: Float64Array;
  /** What an escaped text means. @throws FormatError where it means nothing */
  unescape(bytes: Uint8Array, row: number): Uint8Array;
}

/** The text of a value, which is not missing. */
export function textOf(values: Values, row: number): Uint8Array {
  const range = values.bytes.subarray(values.begins[row], values.ends[row]);
  return values.forms[row] === FORM.escaped ? values.unescape(range, row) : range;
}

/** A value as it is written, quotes and all. */
export function rawText({ bytes, begins, ends, forms }: Values, row: number): Uint8Array {
  const quotes = forms[row] === FORM.text || forms[row] === FORM.escaped ? 1 : 0;
  return bytes.subarray((begins[row] as number) - quotes, (ends[row] as number) + quotes);
}
