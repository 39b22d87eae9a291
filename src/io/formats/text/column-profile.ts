/** Infers the type of a text column from all its values. */
import type { Dtype } from '../../../keys/dtype.js';
import { type TableFunctions, tableFunctions } from '../../../sort/host/native-tables.js';
import { shortenValue } from '../../../util/format-value.js';
import type { NumberScanner } from './number-style.js';
import { digitsOf, doubleOf, integerOf, SAFE_DIGITS, type ScannedNumber } from './number-text.js';
import { MIN_NATIVE_VALUES } from './policy.js';
import type { TextType } from './text-type.js';
import { isoDate, isoTime, isoTimestamp } from './time-text.js';
import { FORM, textOf, type Values } from './values.js';

/** Exponent magnitude up to which a double preserves 15 digits. */
const SAFE_EXPONENT = 300;
/** Number of digits that identifies any double. */
const DOUBLE_DIGITS = 17;
/** Number of digits that any i64 or i128 can hold. */
const I64_DIGITS = 18;
const I128_DIGITS = 38;

const [TWO_63, TWO_64] = [1n << 63n, 1n << 64n];

/** Resembles a number, but has unusual signs. */
const NEAR_NUMBER = /^[ \t]*[+-]?\d[\d.,' ]*$/;

interface FirstNonNumber {
  readonly text: string;
  readonly line: number;
  readonly isNearNumber: boolean;
}

export class ColumnProfile {
  readonly #scanner: NumberScanner;
  readonly #quotesAreTexts: boolean;
  /** Values that are not missing; `#empty` counts the quoted empty ones among them. */
  values = 0;
  #empty = 0;
  #numbers = 0;
  #nearNumbers = 0;
  /** Values that are text, whatever their content. */
  #texts = 0;
  #other: FirstNonNumber | undefined;
  #isWhole = true;
  #isPlain = true;
  #isJson = true;
  #fitsI64 = true;
  #fitsU64 = true;
  #fitsI128 = true;
  #isSafeDouble = true;
  #isExactAsDouble = true;
  #dates = 0;
  #timestamps = 0;
  #zoned = 0;
  #offsets = 0;
  #times = 0;
  #bools = 0;
  #digits = 0;
  #fitsNanoseconds = true;
  /** Number of lists and objects. */
  nested = 0;
  /** Line of the first list or object. */
  nestedLine = 0;

  /** @param quotesAreTexts  whether quoted values are always text */
  constructor(scanner: NumberScanner, quotesAreTexts: boolean) {
    this.#scanner = scanner;
    this.#quotesAreTexts = quotesAreTexts;
  }

  add(values: Values): void {
    let native = this.#scanner.isDefault ? tableFunctions() : undefined;
    for (let row = 0; row < values.rows; row++) {
      const found = native ? this.#addNumbers(native, values, row) : 0;
      if (found < MIN_NATIVE_VALUES) native = undefined;
      row += found;
      if (row < values.rows) this.#addValue(values, row);
    }
  }

  /** Adds numbers in the addon, and returns the number of values up to the first other one. */
  #addNumbers(native: TableFunctions, values: Values, row: number): number {
    const { NUMBER_FLAG: flag, profileNumbers } = native;
    const flags =
      (this.#isWhole ? flag.whole : 0) |
      (this.#isPlain ? flag.plain : 0) |
      (this.#isJson ? flag.json : 0) |
      (this.#fitsI64 ? flag.i64 : 0) |
      (this.#fitsU64 ? flag.u64 : 0) |
      (this.#fitsI128 ? flag.i128 : 0) |
      (this.#isSafeDouble ? flag.safeDouble : 0) |
      (this.#isExactAsDouble ? flag.exactAsDouble : 0);
    const found = profileNumbers(values, row, this.#quotesAreTexts, flags);
    this.values += found.values;
    this.#empty += found.empty;
    this.#numbers += found.numbers;
    this.#isWhole = (found.flags & flag.whole) !== 0;
    this.#isPlain = (found.flags & flag.plain) !== 0;
    this.#isJson = (found.flags & flag.json) !== 0;
    this.#fitsI64 = (found.flags & flag.i64) !== 0;
    this.#fitsU64 = (found.flags & flag.u64) !== 0;
    this.#fitsI128 = (found.flags & flag.i128) !== 0;
    this.#isSafeDouble = (found.flags & flag.safeDouble) !== 0;
    this.#isExactAsDouble = (found.flags & flag.exactAsDouble) !== 0;
    return found.rows;
  }

  #addValue(values: Values, row: number): void {
    const { forms, begins, ends } = values;
    const form = forms[row];
    if (form === FORM.missing) return;
    this.values++;
    if (form === FORM.nested) {
      if (this.nested++ === 0) this.nestedLine = values.lines[row] as number;
      return;
    }
    const isText = form === FORM.text || form === FORM.escaped;
    if (isText && this.#quotesAreTexts && this.#other) {
      this.#texts++;
      return;
    }
    if (isText && begins[row] === ends[row] && !this.#quotesAreTexts) {
      this.#empty++;
      return;
    }
    const number = isText && this.#quotesAreTexts ? undefined : this.#scanner.scan(values, row);
    if (number) this.#addNumber(number);
    else this.#addOther(values, row, isText);
  }

  #addNumber(number: ScannedNumber): void {
    const { bytes } = this.#scanner;
    this.#numbers++;
    if (!number.isPlain) this.#isPlain = false;
    if (!number.isJson) this.#isJson = false;
    if (number.special || !number.isWhole) this.#isWhole = false;
    if (number.special) return;
    const { digits, exponent } = number;
    const isSafe = digits <= SAFE_DIGITS && exponent < SAFE_EXPONENT && exponent > -SAFE_EXPONENT;
    if (!isSafe && !isShortest(number, bytes)) {
      this.#isSafeDouble = false;
      if (!isKept(number, bytes)) this.#isExactAsDouble = false;
    }
    if (!this.#isWhole) return;
    if (digits === 0 && number.isNegative) this.#isWhole = false; // −0 is not an integer
    if (number.isNegative && digits > 0) this.#fitsU64 = false;
    if (exponent <= I64_DIGITS) return;
    if (exponent > I128_DIGITS) this.#fitsI128 = false;
    if (exponent > I64_DIGITS + 2) this.#fitsI64 = this.#fitsU64 = false;
    if (!this.#fitsI64 && !this.#fitsU64) return;
    const value = integerOf(number, bytes);
    if (value >= TWO_63 || value < -TWO_63) this.#fitsI64 = false;
    if (value >= TWO_64) this.#fitsU64 = false;
  }

  #addOther(values: Values, row: number, isText: boolean): void {
    if (isText && this.#quotesAreTexts) this.#texts++;
    const isNew = this.#other === undefined;
    const isAlike = this.#dates + this.#timestamps + this.#times + this.#bools > 0;
    if (!isNew && !isAlike && this.#numbers === 0 && this.#nearNumbers === 0) return;
    const text = Buffer.from(textOf(values, row)).toString();
    const isNearNumber = !(isText && this.#quotesAreTexts) && NEAR_NUMBER.test(text);
    if (isNearNumber) this.#nearNumbers++;
    this.#other ??= { text, line: values.lines[row] as number, isNearNumber };
    if ((!isNew && !isAlike) || (isText && this.#quotesAreTexts)) return;
    this.#addTime(text);
  }

  #addTime(text: string): void {
    if (/^(?:true|false)$/i.test(text)) {
      this.#bools++;
      if (text !== 'true' && text !== 'false') this.#isJson = false;
    } else if (isoDate(text) !== undefined) this.#dates++;
    else {
      const stamp = isoTimestamp(text);
      const time = stamp ?? isoTime(text);
      if (!time) {
        // One value of another type rules all of these types out.
        this.#dates = this.#timestamps = this.#times = this.#bools = 0;
        return;
      }
      this.#digits = Math.max(this.#digits, time.digits);
      if (!stamp) return void this.#times++;
      this.#timestamps++;
      if (time.offset !== undefined) this.#zoned++;
      if (time.offset) this.#offsets++;
      const year = Number(text.slice(0, 4));
      if (year < 1678 || year > 2261) this.#fitsNanoseconds = false;
    }
  }

  /** Adds the profile of further values of the same column. */
  include(other: ColumnProfile): void {
    const hadOthers = this.values - this.#numbers - this.#empty > 0;
    this.values += other.values;
    this.#empty += other.#empty;
    this.#numbers += other.#numbers;
    this.#nearNumbers += other.#nearNumbers;
    this.#texts += other.#texts;
    if (!hadOthers) this.#other = other.#other;
    this.#isWhole &&= other.#isWhole;
    this.#isPlain &&= other.#isPlain;
    this.#isJson &&= other.#isJson;
    this.#fitsI64 &&= other.#fitsI64;
    this.#fitsU64 &&= other.#fitsU64;
    this.#fitsI128 &&= other.#fitsI128;
    this.#isSafeDouble &&= other.#isSafeDouble;
    this.#isExactAsDouble &&= other.#isExactAsDouble;
    this.#dates += other.#dates;
    this.#timestamps += other.#timestamps;
    this.#zoned += other.#zoned;
    this.#offsets += other.#offsets;
    this.#times += other.#times;
    this.#bools += other.#bools;
    this.#digits = Math.max(this.#digits, other.#digits);
    this.#fitsNanoseconds &&= other.#fitsNanoseconds;
    if (this.nested === 0) this.nestedLine = other.nestedLine;
    this.nested += other.nested;
  }

  /** The type that values are compared as. */
  get keyType(): TextType {
    if (this.#isNumber) {
      if (this.#isWhole && this.#fitsI64) return { is: 'i64' };
      if (this.#isWhole && this.#fitsU64) return { is: 'u64' };
      return { is: this.#isSafeDouble ? 'f64' : 'number' };
    }
    return this.#timeType ?? { is: 'text' };
  }

  /** Name of the type that values are compared as; `json` if there are lists or objects, which have no order. */
  get comparedAs(): string {
    return this.nested > 0 ? 'json' : this.keyType.is;
  }

  /** The type of the values in a typed format, chosen so that no information is lost. */
  get valueType(): TextType {
    if (this.nested > 0 || (this.#texts > 0 && this.#texts < this.values)) return { is: 'json' };
    if (this.#isNumber) {
      if (!this.#isPlain) return { is: 'text' };
      if (!this.#isWhole) return { is: this.#isExactAsDouble ? 'f64' : 'text' };
      if (this.#fitsI64) return { is: 'i64' };
      if (this.#fitsU64) return { is: 'u64' };
      return { is: this.#fitsI128 ? 'i128' : 'text' };
    }
    return (this.#offsets === 0 ? this.#timeType : undefined) ?? { is: 'text' };
  }

  /** Whether the values can be copied to JSON unquoted: as numbers, true and false. */
  get isJson(): boolean {
    return this.#isJson && this.#empty === 0 && (this.#isNumber || this.#timeType?.is === 'bool');
  }

  /** The dtype of the values as keys; undefined if they cannot be keys. */
  get dtype(): Dtype | undefined {
    if (!this.#isNumber) return undefined;
    if (!this.#isWhole) return 'f64';
    return this.#fitsI64 ? 'i64' : this.#fitsU64 ? 'u64' : undefined;
  }

  get #isNumber(): boolean {
    return this.#numbers > 0 && this.#numbers + this.#empty === this.values;
  }

  get #timeType(): TextType | undefined {
    const values = this.values - this.#empty;
    if (values === 0) return undefined;
    if (this.#bools === values) return { is: 'bool' };
    if (this.#dates === values) return { is: 'date' };
    const unit = this.#digits > 6 ? 'ns' : 'us';
    if (this.#times === values) return { is: 'time', unit };
    if (this.#timestamps !== values || (unit === 'ns' && !this.#fitsNanoseconds)) return undefined;
    if (this.#zoned > 0 && this.#zoned < values) return undefined;
    return { is: 'timestamp', unit, isZoned: this.#zoned > 0 };
  }

  /** Returns a warning if a column that resembles numbers is treated as text; undefined otherwise. */
  warning(column: string, name: string): string | undefined {
    const other = this.#other;
    const others = this.values - this.#numbers - this.#empty;
    if (!other || others === 0) return undefined;
    if (2 * (this.#numbers + this.#nearNumbers) < this.values) return undefined;
    if (this.#numbers === 0 && this.#timeType) return undefined;
    const advice = other.isNearNumber
      ? 'Use --decimal and --thousands to define how numbers are written'
      : `Use --na ${/^[\w/.-]+$/.test(other.text) ? other.text : `'${other.text}'`} to treat it as missing`;
    return (
      `column ${column} of ${name} is sorted as text: ${others.toLocaleString('en')} of ` +
      `${this.values.toLocaleString('en')} values are not numbers, first '${shortenValue(other.text)}' on line ${other.line}. ${advice}`
    );
  }
}

/** Returns whether a number has the shortest digits of its nearest double. Then no other such number has the same double. */
const isShortest = (number: ScannedNumber, bytes: Uint8Array): boolean => isPrinted(number, bytes);

/** Returns whether the nearest double preserves all digits of a number. */
const isKept = (number: ScannedNumber, bytes: Uint8Array): boolean =>
  isPrinted(number, bytes, number.digits - 1);

/**
 * Returns whether the nearest double of a number is printed with the same digits.
 *
 * @param decimals digits after the first one; default: as few as identify the double
 */
function isPrinted(number: ScannedNumber, bytes: Uint8Array, decimals?: number): boolean {
  const { digits, exponent } = number;
  if (digits > DOUBLE_DIGITS) return false;
  const value = Math.abs(doubleOf(number, bytes));
  if (!Number.isFinite(value) || value === 0) return false;
  const [mantissa = '', power = '0'] = value.toExponential(decimals).split('e');
  return mantissa.replace('.', '') === digitsOf(number, bytes) && Number(power) === exponent - 1;
}
