/**
 * Splits CSV bytes into records, according to RFC 4180: `"` is the only quote, a quote in a quoted field is doubled,
 * and CR, LF or CRLF outside quotes ends a record. Bytes are neither copied nor changed; a record is a byte range.
 */
import { isUtf8 } from 'node:buffer';
import { tableFunctions } from '../../../sort/host/native-tables.js';
import { FormatError } from '../../../util/errors.js';
import { growArray, RowRanges } from './row-ranges.js';
import type { Ragged } from './text-options.js';

const [LF, CR, QUOTE] = [0x0a, 0x0d, 0x22];

export interface SplitOptions {
  /** Display name of the file, for messages. */
  readonly name: string;
  /** Empty if a record is a single field. */
  readonly delimiter: Uint8Array;
  /** Prefix of comment lines. */
  readonly comment?: Uint8Array | undefined;
  /** Default `'error'`. */
  readonly ragged?: Ragged | undefined;
  /** Number of lines to skip at the beginning. */
  readonly skip?: number | undefined;
}

/** Returns whether `bytes` contains `part` at an offset. */
function hasAt(bytes: Uint8Array, at: number, part: Uint8Array): boolean {
  for (let k = 0; k < part.length; k++) if (bytes[at + k] !== part[k]) return false;
  return true;
}

export class CsvSplitter extends RowRanges {
  readonly options: SplitOptions;
  readonly #delimiter: Uint8Array;
  readonly #first: number;
  #skip: number;
  /** Line number of the next byte, from 1. */
  #line = 1;
  /** Number of fields per record; 0 before the first record, -1 to allow any number. */
  width = 0;
  fieldEnds = new Int32Array(4096);
  #fields = 0;
  /** Number of records so far with filled-in fields, and of skipped records. */
  filled = 0;
  skipped = 0;
  /** Number of comment lines so far. */
  comments = 0;

  constructor(options: SplitOptions) {
    super();
    this.options = options;
    this.#delimiter = options.delimiter;
    this.#first = options.delimiter[0] ?? -1;
    this.#skip = options.skip ?? 0;
  }

  /**
   * Finds the records in `bytes`.
   *
   * @param isLast  whether the text ends here
   * @returns the number of bytes consumed; the rest is an incomplete record
   * @throws FormatError with the line number, when a record is invalid
   */
  split(bytes: Uint8Array, isLast: boolean): number {
    this.rows = 0;
    this.#fields = 0;
    const line = this.#line;
    let at = 0;
    while (at < bytes.length) {
      at = this.#splitNative(bytes, at);
      if (at >= bytes.length) break;
      const byte = bytes[at] as number;
      const isComment = this.#skip > 0 || this.#isComment(bytes, at);
      if (isComment || byte === LF || byte === CR) {
        const end = isComment ? lineEnd(bytes, at) : at;
        const next = nextLineBegin(bytes, end, isLast);
        if (next === undefined) break;
        if (this.#skip > 0) this.#skip--;
        else if (isComment) this.comments++;
        at = next;
        this.#line++;
        continue;
      }
      const next = this.#record(bytes, at, isLast);
      if (next === undefined) break;
      at = next;
    }
    this.#assertUtf8(bytes.subarray(0, at), line);
    return at;
  }

  /** Splits the next records with the expected number of fields in the addon, and returns the end of the last one. */
  #splitNative(bytes: Uint8Array, at: number): number {
    const native = tableFunctions();
    if (!native || this.#skip > 0 || this.width <= 0) return at;
    const state = Float64Array.of(at, this.rows, this.#fields, this.#line);
    native.splitCsv(bytes, this.#delimiter, this.options.comment?.[0], this.width, state, this);
    [at, this.rows, this.#fields, this.#line] = state as unknown as [number, number, number, number];
    return at;
  }

  #isComment(bytes: Uint8Array, at: number): boolean {
    const { comment } = this.options;
    return comment !== undefined && hasAt(bytes, at, comment);
  }

  /** Splits one record and returns the start of the next line; undefined if the record is incomplete. */
  #record(bytes: Uint8Array, begin: number, isLast: boolean): number | undefined {
    const { length } = bytes;
    const line = this.#line;
    const fieldsBefore = this.#fields;
    const width = this.#delimiter.length;
    const first = this.#first;
    let at = begin;
    let byte = 0;
    for (;;) {
      if (bytes[at] === QUOTE) {
        const end = this.#quoted(bytes, at, begin, isLast);
        if (end === undefined) {
          this.#line = line;
          this.#fields = fieldsBefore;
          return undefined;
        }
        at = end;
        byte = at < length ? (bytes[at] as number) : LF;
      } else {
        for (;;) {
          byte = at < length ? (bytes[at] as number) : LF;
          if (byte === LF || byte === CR) break;
          if (byte === first && (width === 1 || hasAt(bytes, at, this.#delimiter))) break;
          at++;
        }
      }
      if (this.#fields === this.fieldEnds.length) this.fieldEnds = growArray(this.fieldEnds);
      this.fieldEnds[this.#fields++] = at;
      if (byte !== first || at >= length) break;
      at += width;
    }
    const next = at < length ? nextLineBegin(bytes, at, isLast) : isLast ? at : undefined;
    if (next === undefined) {
      this.#line = line;
      this.#fields = fieldsBefore;
      return undefined;
    }
    this.#line++;
    this.#take(begin, at, line, fieldsBefore);
    return next;
  }

  /** Returns the end of a quoted field, after its closing quote; undefined if it is incomplete. */
  #quoted(bytes: Uint8Array, open: number, begin: number, isLast: boolean): number | undefined {
    const { length } = bytes;
    const line = this.#line;
    let at = open + 1;
    for (;;) {
      for (; at < length && bytes[at] !== QUOTE; at++) {
        if (bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] !== LF)) this.#line++;
      }
      if (at >= length && isLast) {
        throw this.#error(
          `line ${line} has an unclosed quote at character ${characters(bytes, begin, open)}`,
          { line },
        );
      }
      if (at + 1 >= length && !isLast) return undefined;
      if (bytes[at + 1] !== QUOTE || at + 1 >= length) break;
      at += 2;
    }
    at++;
    const isEnd = at >= length || bytes[at] === LF || bytes[at] === CR;
    if (isEnd || (this.#first >= 0 && hasAt(bytes, at, this.#delimiter))) return at;
    if (!isLast && at + this.#delimiter.length > length) return undefined;
    throw this.#error(
      `line ${this.#line} has text after the closing quote of the field that begins at character ` +
        `${characters(bytes, begin, open)} of line ${line}. Double a quote in a quoted field`,
      { line: this.#line },
    );
  }

  #take(begin: number, end: number, line: number, fieldsBefore: number): void {
    const fields = this.#fields - fieldsBefore;
    if (this.width === 0) this.width = fields;
    if (fields !== this.width && this.width > 0 && !this.#isKept(fields, line)) {
      this.#fields = fieldsBefore;
      return;
    }
    // A filled-in field starts after the end of its record.
    for (let k = fields; k < this.width; k++) {
      if (this.#fields === this.fieldEnds.length) this.fieldEnds = growArray(this.fieldEnds);
      this.fieldEnds[this.#fields++] = end;
    }
    this.addRow(begin, end, line, fieldsBefore, this.#fields);
  }

  /**
   * Returns whether a record with another number of fields is a row.
   *
   * @throws FormatError unless the record is to be filled or skipped
   */
  #isKept(fields: number, line: number): boolean {
    const { ragged = 'error' } = this.options;
    if (ragged === 'skip') {
      this.skipped++;
      return false;
    }
    if (ragged === 'fill' && fields < this.width) {
      this.filled++;
      return true;
    }
    const advice =
      ragged === 'fill'
        ? 'Use --ragged skip to exclude such lines'
        : 'Use --ragged fill to add missing fields, or --ragged skip to exclude such lines';
    throw this.#error(`line ${line} has ${count(fields)} but the first record has ${this.width}. ${advice}`, {
      line,
      fields,
      expected: this.width,
    });
  }

  /** @param first  line number of the first byte */
  #assertUtf8(bytes: Uint8Array, first: number): void {
    const wrong = findInvalidUtf8(bytes, first);
    if (wrong) throw this.#error(wrong.what, { line: wrong.line });
  }

  #error(what: string, details: Readonly<Record<string, unknown>>): FormatError {
    const { name } = this.options;
    return new FormatError(`cannot read ${name}: ${what}`, { details: { path: name, ...details } });
  }
}

const count = (fields: number): string => (fields === 1 ? '1 field' : `${fields} fields`);

/** Returns the end of a line without quotes. */
export function lineEnd(bytes: Uint8Array, at: number): number {
  while (at < bytes.length && bytes[at] !== LF && bytes[at] !== CR) at++;
  return at;
}

/** Returns the start of the next line; undefined if more bytes are needed to decide. */
export function nextLineBegin(bytes: Uint8Array, end: number, isLast: boolean): number | undefined {
  if (end >= bytes.length) return isLast ? end : undefined;
  if (bytes[end] === LF) return end + 1;
  if (end + 1 < bytes.length) return bytes[end + 1] === LF ? end + 2 : end + 1;
  return isLast ? end + 1 : undefined;
}

/** Returns the 1-based character position in a line. */
const characters = (bytes: Uint8Array, begin: number, at: number): number =>
  new TextDecoder().decode(bytes.subarray(begin, at)).length + 1;

/**
 * Returns the first invalid UTF-8 sequence; undefined if there is none.
 *
 * @param line  line number of the first byte
 */
export function findInvalidUtf8(bytes: Uint8Array, line: number): { what: string; line: number } | undefined {
  if (isUtf8(bytes)) return undefined;
  let begin = 0;
  for (let at = 0; ; ) {
    const byte = bytes[at] as number;
    const length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    if (!isUtf8(bytes.subarray(at, at + length)) || at >= bytes.length) {
      const what = `line ${line} is not UTF-8 at character ${characters(bytes, begin, at)}. Convert the file, for example with iconv`;
      return { what, line };
    }
    at += length;
    if (byte === LF || (byte === CR && bytes[at] !== LF)) {
      line++;
      begin = at;
    }
  }
}
