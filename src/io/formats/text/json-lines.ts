/** Splits JSON lines into byte ranges of the lines and of their member values. */

import type { KnownNames } from '../../../native-host/table-functions.js';
import { tableFunctions } from '../../../sort/host/native-tables.js';
import { FormatError } from '../../../util/errors.js';
import { findInvalidUtf8 } from './csv-splitter.js';
import { isBlank, JsonFault, JsonScanner, jsonText } from './json-scanner.js';
import { growArray, RowRanges } from './row-ranges.js';
import { FORM, ValueArrays, type Values } from './values.js';

/** Name of the only column if lines are not objects. */
export const LINE_COLUMN = 'json';

const [LF, CR, QUOTE, BACKSLASH, OPEN_OBJECT, OPEN_LIST] = [0x0a, 0x0d, 0x22, 0x5c, 0x7b, 0x5b];
const NULL = 0x6e;

/** Columns in order of first appearance. Members of nested objects are columns only when requested by path. */
export class JsonColumns {
  readonly names: string[] = [];
  /** Names as written, with quotes. */
  readonly raw: Uint8Array[] = [];
  readonly #places = new Map<string, number>();
  readonly #byRaw = new Map<string, number>();
  /** Whether lines are objects, as determined by the first line. */
  isOfObjects: boolean | undefined;
  firstLine = 0;
  #known: KnownNames | undefined;

  /** The names found so far, in each way they are written, and their columns. */
  get known(): KnownNames {
    let end = 0;
    this.#known ??= {
      bytes: Buffer.from([...this.#byRaw.keys()].join(''), 'latin1'),
      ends: Int32Array.from(this.#byRaw.keys(), (name) => (end += name.length)),
      columns: Int32Array.from(this.#byRaw.values()),
    };
    return this.#known;
  }

  place(name: string): number {
    let place = this.#places.get(name);
    if (place === undefined) {
      place = this.names.push(name) - 1;
      this.#places.set(name, place);
    }
    return place;
  }

  /** Returns the column index of a quoted name, given as bytes. */
  placeOf(bytes: Uint8Array): number {
    const key = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
    let place = this.#byRaw.get(key);
    if (place === undefined) {
      place = this.place(jsonText(bytes));
      this.#byRaw.set(key, place);
      this.#known = undefined;
      this.raw[place] ??= Uint8Array.from(bytes); // the slice of a Buffer would be a view of memory that is reused
    }
    return place;
  }
}

/** Returns the parts of a path such as `/user/id`; undefined if the name is not a path. */
export const pathOf = (name: string): string[] | undefined =>
  name.startsWith('/')
    ? name
        .slice(1)
        .split('/')
        .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    : undefined;

export class JsonLines extends RowRanges {
  readonly #name: string;
  readonly #columns: JsonColumns;
  readonly #scanner = new JsonScanner();
  #line = 1;
  #bytes: Uint8Array = new Uint8Array(0);
  /** Last row with a value, by column. */
  #lastRows: number[] = [];
  /** Columns of the previous line in order, because the next line probably has the same. */
  #order: number[] = [];
  /** Column, start and end of each value. */
  columns = new Int32Array(4096);
  valueBegins = new Int32Array(4096);
  valueEnds = new Int32Array(4096);
  #values = 0;
  readonly #arrays = new ValueArrays();

  /** @param name  display name of the file, for messages */
  constructor(name: string, columns: JsonColumns) {
    super();
    this.#name = name;
    this.#columns = columns;
  }

  /**
   * Finds the lines in `bytes`.
   *
   * @returns the number of bytes consumed
   * @throws FormatError with the line number, when a line is invalid
   */
  split(bytes: Uint8Array, isLast: boolean): number {
    this.rows = 0;
    this.#values = 0;
    this.#lastRows = [];
    this.#bytes = bytes;
    const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    let at = 0;
    const last = isLast ? bytes.length : whole.lastIndexOf(LF) + 1;
    const wrong = findInvalidUtf8(bytes.subarray(0, last), this.#line);
    if (wrong) throw this.#error(wrong.what, wrong.line);
    while (at < last) {
      at = this.#splitNative(bytes.subarray(0, last), at);
      if (at >= last) break;
      const found = whole.indexOf(LF, at);
      const end = found < 0 ? bytes.length : found;
      this.#take(at, end > at && bytes[end - 1] === CR ? end - 1 : end);
      this.#line++;
      at = found < 0 ? end : found + 1;
    }
    return at;
  }

  /** Splits the next lines of known names in the addon, and returns the end of the last one. */
  #splitNative(bytes: Uint8Array, at: number): number {
    const native = tableFunctions();
    const { isOfObjects, known } = this.#columns;
    if (!native || isOfObjects === undefined) return at;
    const state = Float64Array.of(at, this.rows, this.#values, this.#line);
    native.splitJson(bytes, known, isOfObjects, state, this);
    [at, this.rows, this.#values, this.#line] = state as unknown as [number, number, number, number];
    return at;
  }

  #take(begin: number, end: number): void {
    const bytes = this.#bytes;
    const first = this.#values;
    let at = begin;
    while (at < end && isBlank(bytes[at])) at++;
    if (at === end) return;
    try {
      this.#scanner.reset(bytes, end);
      this.#assertAlike(bytes[at] === OPEN_OBJECT);
      const behind = this.#scanner.skipBlanks(bytes[at] === OPEN_OBJECT ? this.#object(at) : this.#whole(at));
      if (behind < end) throw new JsonFault('other text follows the value', behind);
    } catch (error) {
      if (!(error instanceof JsonFault)) throw error;
      const character = new TextDecoder().decode(bytes.subarray(begin, error.at)).length + 1;
      throw this.#error(
        `line ${this.#line} is not JSON: ${error.message} at character ${character}`,
        this.#line,
      );
    }
    this.addRow(begin, end, this.#line, first, this.#values);
  }

  /** @throws FormatError when objects and other values are mixed */
  #assertAlike(isObject: boolean): void {
    const columns = this.#columns;
    if (columns.isOfObjects === undefined) {
      columns.isOfObjects = isObject;
      columns.firstLine = this.#line;
      if (!isObject) columns.place(LINE_COLUMN);
    }
    if (columns.isOfObjects === isObject) return;
    const [object, other] = isObject ? [this.#line, columns.firstLine] : [columns.firstLine, this.#line];
    throw this.#error(`line ${object} is an object but line ${other} is not`, this.#line);
  }

  #whole(begin: number): number {
    const end = this.#scanner.value(begin);
    this.#put(0, begin, end);
    return end;
  }

  #object(begin: number): number {
    let position = 0;
    return this.#scanner.members(begin, (nameBegin, nameEnd, from, to) => {
      const expected = this.#order[position];
      const place =
        expected !== undefined && this.#isAt(this.#columns.raw[expected], nameBegin, nameEnd)
          ? expected
          : this.#columns.placeOf(this.#bytes.subarray(nameBegin, nameEnd));
      this.#order[position++] = place;
      this.#put(place, from, to);
    });
  }

  #isAt(raw: Uint8Array | undefined, begin: number, end: number): boolean {
    if (raw?.length !== end - begin) return false;
    for (let k = 0; k < raw.length; k++) if (raw[k] !== this.#bytes[begin + k]) return false;
    return true;
  }

  #put(place: number, begin: number, end: number): void {
    if (this.#lastRows[place] === this.rows) {
      throw this.#error(
        `line ${this.#line} has the name ${JSON.stringify(this.#columns.names[place])} twice`,
        this.#line,
      );
    }
    this.#lastRows[place] = this.rows;
    if (this.#values === this.columns.length) {
      this.columns = growArray(this.columns);
      this.valueBegins = growArray(this.valueBegins);
      this.valueEnds = growArray(this.valueEnds);
    }
    this.columns[this.#values] = place;
    this.valueBegins[this.#values] = begin;
    this.valueEnds[this.#values++] = end;
  }

  /** Returns the values of a column in the lines found. */
  values(place: number): Values {
    const values = this.#noValues(place);
    const native = tableFunctions();
    if (native) native.findJsonColumn(this, place, values);
    else this.#eachOf(place, (row, begin, end) => this.#fill(values, row, begin, end));
    return values;
  }

  /** Returns the values at a path through nested objects and lists. */
  valuesAt([first = '', ...path]: readonly string[]): Values {
    const values = this.#noValues(JSON.stringify([first, ...path]));
    this.#eachOf(this.#columns.names.indexOf(first), (row, begin, end) => {
      const range = this.#find(begin, end, path);
      if (range) this.#fill(values, row, ...range);
    });
    return values;
  }

  #eachOf(place: number, take: (row: number, begin: number, end: number) => void): void {
    for (let row = 0; row < this.rows; row++) {
      for (let k = this.firsts[row] as number; k < (this.firsts[row + 1] as number); k++) {
        if (this.columns[k] === place) take(row, this.valueBegins[k] as number, this.valueEnds[k] as number);
      }
    }
  }

  #find(begin: number, end: number, path: readonly string[]): [begin: number, end: number] | undefined {
    const [name, ...rest] = path;
    if (name === undefined) return [begin, end];
    let found: [number, number] | undefined;
    this.#scanner.reset(this.#bytes, end);
    if (this.#bytes[begin] === OPEN_OBJECT) {
      this.#scanner.members(begin, (nameBegin, nameEnd, from, to) => {
        if (jsonText(this.#bytes.subarray(nameBegin, nameEnd)) === name) found = [from, to];
      });
    } else if (this.#bytes[begin] === OPEN_LIST) {
      this.#scanner.elements(begin, (index, from, to) => {
        if (`${index}` === name) found = [from, to];
      });
    }
    return found && this.#find(...found, rest);
  }

  #noValues(column: number | string): Values {
    const { rows } = this;
    return {
      ...{ rows, bytes: this.#bytes },
      ...this.#arrays.take(column, rows),
      lines: this.lines.subarray(0, rows),
      unescape: (text, row) => this.#unescape(text, this.lines[row] as number),
    };
  }

  #fill({ begins, ends, forms }: Values, row: number, begin: number, end: number): void {
    const byte = this.#bytes[begin];
    const isText = byte === QUOTE;
    begins[row] = isText ? begin + 1 : begin;
    ends[row] = isText ? end - 1 : end;
    if (byte === NULL) forms[row] = FORM.missing;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) forms[row] = FORM.nested;
    else if (!isText) forms[row] = FORM.bare;
    else forms[row] = this.#hasBackslash(begin + 1, end - 1) ? FORM.escaped : FORM.text;
  }

  #hasBackslash(begin: number, end: number): boolean {
    for (let at = begin; at < end; at++) if (this.#bytes[at] === BACKSLASH) return true;
    return false;
  }

  #unescape(bytes: Uint8Array, line: number): Uint8Array {
    const text = JSON.parse(`"${Buffer.from(bytes).toString()}"`) as string;
    const encoded = Buffer.from(text);
    if (encoded.toString() === text) return encoded;
    throw this.#error(`line ${line} has a string with half of a surrogate pair`, line);
  }

  #error(what: string, line: number): FormatError {
    return new FormatError(`cannot read ${this.#name}: ${what}`, { details: { path: this.#name, line } });
  }
}
