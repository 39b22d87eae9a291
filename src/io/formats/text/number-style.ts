/** Parses numbers with a custom decimal or thousands separator. */
import { type ScannedNumber, scanNumber } from './number-text.js';
import type { NumberStyle } from './text-options.js';
import { FORM, textOf, type Values } from './values.js';

/** Scans numbers of one style. */
export class NumberScanner {
  readonly #decimal: string;
  readonly #thousands: string;
  readonly #pattern: RegExp | undefined;
  /** Bytes that the last number was scanned from. */
  bytes: Uint8Array = new Uint8Array(0);

  constructor({ decimal = '.', thousands }: NumberStyle) {
    this.#decimal = decimal;
    this.#thousands = thousands ?? '';
    if (decimal === '.' && thousands === undefined) return;
    const [point, group] = [decimal, this.#thousands].map((sign) =>
      sign.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'),
    );
    const whole = group ? `\\d{1,3}(?:${group}\\d{3})+|\\d+` : '\\d+';
    this.#pattern = new RegExp(
      `^[ \\t]*[+-]?(?:(?:${whole})(?:${point}\\d*)?|${point}\\d+)(?:[eE][+-]?\\d+)?[ \\t]*$|^[ \\t]*[+-]?[a-zA-Z]+[ \\t]*$`,
    );
  }

  /** Whether numbers have a decimal point and no thousands separators. */
  get isDefault(): boolean {
    return this.#pattern === undefined;
  }

  /** Returns the number in a value; undefined if it is not a number. */
  scan(values: Values, row: number): ScannedNumber | undefined {
    if (values.forms[row] !== FORM.escaped && !this.#pattern) {
      this.bytes = values.bytes;
      return scanNumber(values.bytes, values.begins[row] as number, values.ends[row] as number);
    }
    let bytes = textOf(values, row);
    if (this.#pattern) {
      const text = Buffer.from(bytes).toString('latin1');
      if (!this.#pattern.test(text)) return undefined;
      bytes = Buffer.from(text.replaceAll(this.#thousands || '\0', '').replace(this.#decimal, '.'), 'latin1');
    }
    this.bytes = bytes;
    return scanNumber(bytes, 0, bytes.length);
  }
}
