/**
 * Records of a CSV, found in its bytes by RFC 4180: `"` is the only quote, a quote in a quoted field is doubled, and CR, LF or CRLF
 * ends a record outside quotes. Nothing is copied or changed; a record is a range of bytes.
 */
import { isUtf8 } from 'node:buffer';
import { FormatError } from '../../util/errors.js';
import type { Ragged } from './text-options.js';

const [LF, CR, QUOTE] = [0x0a, 0x0d, 0x22];

export interface SplitOptions {
  /** For messages. */
  readonly name: string;
  /** Empty where a record is one field. */
  readonly delimiter: Uint8Array;
  /** What the lines begin with that are no records. */
  readonly comment?: Uint8Array | undefined;
  /** Default `'error'`. */
  readonly ragged?: Ragged | undefined;
  /** Lines that are left out at the beginning. */
  readonly skip?: number | undefined;
}

/** Whether `bytes` has `part` at a place. */
function hasAt(bytes: Uint8Array, at: number, part: Uint8Array): boolean {
  for (let k = 0; k < part.length; k++) if (bytes[at + k] !== part[k]) return false;
  return true;
}

export class CsvSplitter {
  readonly options: SplitOptions;
  readonly #delimiter: Uint8Array;
  readonly #first: number;
  #skip: number;
  /** Line of the next byte, from 1. */
  #line = 1;
  /** Fields that a record has; 0 before the first record. Set it to -1 to allow any number. */
  width = 0;
  /** Records that were found by the last call. */
  rows = 0;
  /** Where each record begins and ends, and its line. */
  begins = new Int32Array(1024);
  ends = new Int32Array(1024);
  lines = new Float64Array(1024);
  /** Where the ends of the fields of each record begin in `fieldEnds`. */
  firsts = new Int32Array(1025);
  fieldEnds = new Int32Array(4096);
  #fields = 0;
  /** Records so far that were filled, and left out. */
  filled = 0;
  skipped = 0;
  /** Lines so far that were left out as comments. */
  comments = 0;

  constructor(options: SplitOptions) {
    this.options = options;
    this.#delimiter = options.delimiter;
    this.#first = options.delimiter[0] ?? -1;
    this.#skip = options.skip ?? 0;
  }

  /**
   * Finds the records in `bytes`.
   *
   * @param isLast whether the text ends here
   * @returns how many bytes are done with; the rest begins a record that does not end here
   * @throws FormatError that names the line
   */
  split(bytes: Uint8Array, isLast: boolean): number {
    this.rows = 0;
    this.#fields = 0;
    const line = this.#line;
    let at = 0;
    while (at < bytes.length) {
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

  #isComment(bytes: Uint8Array, at: number): boolean {
    const { comment } = this.options;
    return comment !== undefined && hasAt(bytes, at, comment);
  }

  /** Takes the record at a place, and says where the next line begins; undefined when it does not end here. */
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
    this.#take({ begin, end: at, line, fieldsBefore });
    return next;
  }

  /** Where a quoted field ends, behind its quote; undefined when that is not here. */
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
          `line ${line} has a quote at character ${characters(bytes, begin, open)} that is not closed`,
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
      `line ${this.#line} has text behind the closing quote of the field that begins at character ` +
        `${characters(bytes, begin, open)} of line ${line}: a quote in a quoted field is written twice`,
      { line: this.#line },
    );
  }

  #take({
    begin,
    end,
    line,
    fieldsBefore,
  }: {
    readonly begin: number;
    readonly end: number;
    readonly line: number;
    readonly fieldsBefore: number;
  }): void {
    const fields = this.#fields - fieldsBefore;
    if (this.width === 0) this.width = fields;
    if (fields !== this.width && this.width > 0 && !this.#isKept(fields, line)) {
      this.#fields = fieldsBefore;
      return;
    }
    const row = this.rows++;
    if (row === this.begins.length) {
      this.begins = growArray(this.begins);
      this.ends = growArray(this.ends);
      this.lines = growArray(this.lines);
      this.firsts = growArray(this.firsts);
    }
    // A field that was filled in begins behind the end of its record.
    for (let k = fields; k < this.width; k++) {
      if (this.#fields === this.fieldEnds.length) this.fieldEnds = growArray(this.fieldEnds);
      this.fieldEnds[this.#fields++] = end;
    }
    this.begins[row] = begin;
    this.ends[row] = end;
    this.lines[row] = line;
    this.firsts[row] = fieldsBefore;
    this.firsts[row + 1] = this.#fields;
  }

  /** Whether a record of another width is a row. @throws FormatError unless it is to be filled or left out */
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
        ? "only missing fields can be filled in; --ragged skip leaves such lines out ('ragged' in programs)"
        : "--ragged fill fills in missing fields, --ragged skip leaves such lines out ('ragged' in programs)";
    throw this.#error(`line ${line} has ${count(fields)}, and ${this.width} were expected: ${advice}`, {
      line,
      fields,
      expected: this.width,
    });
  }

  /** @param first line that the bytes begin with */
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

function growArray<T extends Int32Array | Float64Array>(from: T): T {
  const to = new (from.constructor as new (length: number) => T)(2 * from.length);
  to.set(from);
  return to;
}

/** Where a line ends that has no quotes. */
export function lineEnd(bytes: Uint8Array, at: number): number {
  while (at < bytes.length && bytes[at] !== LF && bytes[at] !== CR) at++;
  return at;
}

/** Where the next line begins; undefined when that cannot be said yet. */
export function nextLineBegin(bytes: Uint8Array, end: number, isLast: boolean): number | undefined {
  if (end >= bytes.length) return isLast ? end : undefined;
  if (bytes[end] === LF) return end + 1;
  if (end + 1 < bytes.length) return bytes[end + 1] === LF ? end + 2 : end + 1;
  return isLast ? end + 1 : undefined;
}

/** Number of a character of a line, from 1. */
const characters = (bytes: Uint8Array, begin: number, at: number): number =>
  new TextDecoder().decode(bytes.subarray(begin, at)).length + 1;

/** Where bytes are no UTF-8; undefined where they are. @param line that they begin with */
export function findInvalidUtf8(bytes: Uint8Array, line: number): { what: string; line: number } | undefined {
  if (isUtf8(bytes)) return undefined;
  let begin = 0;
  for (let at = 0; ; ) {
    const byte = bytes[at] as number;
    const length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    if (!isUtf8(bytes.subarray(at, at + length)) || at >= bytes.length) {
      const what = `line ${line} is not UTF-8 at character ${characters(bytes, begin, at)}: convert the file, for example with iconv`;
      return { what, line };
    }
    at += length;
    if (byte === LF || (byte === CR && bytes[at] !== LF)) {
      line++;
      begin = at;
    }
  }
}
