/** Unparsed values of one column: byte ranges of a text. */

/** The form of a value. */
export const FORM = {
  /** Empty field, or null. */
  missing: 0,
  /** A field without quotes; in JSON a number, true or false. */
  bare: 1,
  /** A quoted string without escapes. */
  text: 2,
  /** A quoted string with escapes. */
  escaped: 3,
  /** A JSON list or object. */
  nested: 4,
} as const;

export interface Values {
  readonly rows: number;
  readonly bytes: Uint8Array;
  /** Start and end of each value; for strings, between the quotes. */
  readonly begins: Int32Array;
  readonly ends: Int32Array;
  readonly forms: Uint8Array;
  /** Line number of each row. */
  readonly lines: Float64Array;
  /**
   * Decodes an escaped string.
   *
   * @throws FormatError when it is not valid text
   */
  unescape(bytes: Uint8Array, row: number): Uint8Array;
}

type ValueRanges = Pick<Values, 'begins' | 'ends' | 'forms'>;

/** Arrays for the values of columns, which are used again for each chunk. */
export class ValueArrays {
  readonly #columns = new Map<number | string, ValueRanges>();

  /** Returns the arrays of a column, by its index or a name, with `rows` zeros each. */
  take(column: number | string, rows: number): ValueRanges {
    let arrays = this.#columns.get(column);
    if (!arrays || arrays.forms.length < rows) {
      const n = 2 * rows;
      arrays = { begins: new Int32Array(n), ends: new Int32Array(n), forms: new Uint8Array(n) };
      this.#columns.set(column, arrays);
    }
    const { begins, ends, forms } = arrays;
    return {
      begins: begins.subarray(0, rows).fill(0),
      ends: ends.subarray(0, rows).fill(0),
      forms: forms.subarray(0, rows).fill(0),
    };
  }
}

/** Returns the text of a value that is not missing. */
export function textOf(values: Values, row: number): Uint8Array {
  const range = values.bytes.subarray(values.begins[row], values.ends[row]);
  return values.forms[row] === FORM.escaped ? values.unescape(range, row) : range;
}

/** Ranges and forms of values. */
export type RawValues = Pick<Values, 'bytes' | 'begins' | 'ends' | 'forms'>;

const quotesOf = (form: number | undefined): number => Number(form === FORM.text || form === FORM.escaped);

/** Returns the start of a value as written, including quotes. */
export const rawBegin = ({ begins, forms }: RawValues, row: number): number =>
  (begins[row] as number) - quotesOf(forms[row]);

/** Returns the end of a value as written, including quotes. */
export const rawEnd = ({ ends, forms }: RawValues, row: number): number =>
  (ends[row] as number) + quotesOf(forms[row]);

/** Returns a value as written, including quotes. */
export const rawText = (values: RawValues, row: number): Uint8Array =>
  values.bytes.subarray(rawBegin(values, row), rawEnd(values, row));
