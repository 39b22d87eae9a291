/** Determines the dialect of a CSV file from the options and its first records. docs/files.md has the rules. */
import { FormatError } from '../../../util/errors.js';
import { shortenValue } from '../../../util/format-value.js';
import { QUOTE, unquoteField } from './csv-field.js';
import { CsvSplitter, type SplitOptions } from './csv-splitter.js';
import { NumberScanner } from './number-style.js';
import { FIRST_BYTES, MAX_SAMPLE_BYTES, SAMPLE_RECORDS } from './policy.js';
import { formatDelimiter, type TextReadOptions } from './text-options.js';
import { MAX_RECORD_BYTES, type TextSource } from './text-source.js';
import { isoDate, isoTime, isoTimestamp } from './time-text.js';
import { FORM, textOf, type Values } from './values.js';

/** The dialect of a CSV file. */
export interface CsvDialect {
  /** Empty if every record is a single field. */
  readonly delimiter: string;
  readonly hasHeader: boolean;
  /** Column names, from the header or numbered; empty for a text without records. */
  readonly names: readonly string[];
  /** The header as written; undefined if there is none. */
  readonly header: Uint8Array | undefined;
  /** Line end of the first record. */
  readonly lineEnd: string;
  /** Remarks for the user about the detection. */
  readonly notes: readonly string[];
}

const DELIMITERS = [',', ';', '\t', '|'];

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Returns the splitter options of a dialect. */
export const splitOptions = (
  name: string,
  delimiter: string,
  { comment, ragged, skip }: TextReadOptions,
): SplitOptions => ({
  ...{ name, delimiter: bytesOf(delimiter), ragged, skip },
  comment: comment === undefined ? undefined : bytesOf(comment),
});

/** The first records, split by a delimiter as far as possible. */
interface Sample {
  readonly delimiter: string;
  readonly bytes: Uint8Array;
  readonly splitter: CsvSplitter;
  readonly records: number;
}

/**
 * Determines the dialect of a CSV file.
 *
 * @throws FormatError when the beginning of the file cannot be parsed
 */
export async function csvDialect(text: TextSource, options: TextReadOptions): Promise<CsvDialect> {
  for (let maxBytes = FIRST_BYTES; ; maxBytes *= 8) {
    const head = await text.head(maxBytes);
    const found = dialectOf(text.name, head, options);
    if (found) return found;
    if (maxBytes >= MAX_RECORD_BYTES) {
      throw new FormatError(
        `cannot read ${text.name}: its first record has more than ${MAX_RECORD_BYTES} bytes. Check that all quotes are closed`,
      );
    }
  }
}

/** Returns the dialect of a sample; undefined if it has no complete record. */
function dialectOf(
  name: string,
  { bytes, isAll }: { bytes: Uint8Array; isAll: boolean },
  options: TextReadOptions,
): CsvDialect | undefined {
  const notes: string[] = [];
  const sampleBy = (delimiter: string): Sample | undefined =>
    sampleOf(name, { bytes, isAll, delimiter }, options);
  const sample =
    (options.delimiter === undefined
      ? detectDelimiter(name, sampleBy, notes)
      : sampleBy(options.delimiter)) ?? firstError();
  const { splitter, records, delimiter } = sample;
  if (records < 2 && !isAll && (records === 0 || bytes.length < MAX_SAMPLE_BYTES)) return undefined;
  if (records === 0) {
    return {
      delimiter: options.delimiter ?? ',',
      hasHeader: options.header ?? false,
      header: undefined,
      names: [],
      lineEnd: '\n',
      notes,
    };
  }
  const first = fieldsOf(sample, 0);
  const hasHeader = options.header ?? looksLikeHeader(sample, options, name, notes);
  const names = first.map((field, i) => (hasHeader ? field : `column${i}`));
  const [begin, end] = [splitter.begins[0] as number, splitter.ends[0] as number];
  const header = hasHeader ? bytes.slice(begin, end) : undefined;
  return { delimiter, hasHeader, header, names, lineEnd: lineEndAt(bytes, end), notes };

  /** @throws FormatError with the error in the first record */
  function firstError(): never {
    splitterFor(name, options.delimiter ?? ',', options).split(bytes, isAll);
    throw new FormatError(`cannot read ${name}: its first record is invalid`);
  }
}

function splitterFor(name: string, delimiter: string, options: TextReadOptions): CsvSplitter {
  const splitter = new CsvSplitter(splitOptions(name, delimiter, options));
  splitter.width = -1;
  return splitter;
}

/** Splits a sample by a delimiter; returns undefined if the first record cannot be split. */
function sampleOf(
  name: string,
  { bytes, isAll, delimiter }: { bytes: Uint8Array; isAll: boolean; delimiter: string },
  options: TextReadOptions,
): Sample | undefined {
  const splitter = splitterFor(name, delimiter, options);
  let broken = false;
  try {
    splitter.split(bytes, isAll);
  } catch {
    broken = true; // after the records found so far
  }
  if (broken && splitter.rows === 0) return undefined;
  return { delimiter, bytes, splitter, records: Math.min(SAMPLE_RECORDS, splitter.rows) };
}

const widthOf = ({ splitter }: Sample, record: number): number =>
  (splitter.firsts[record + 1] as number) - (splitter.firsts[record] as number);

/** Returns the number of further records with as many fields as the first one. */
function countLikeFirst(sample: Sample): number {
  let alike = 0;
  for (let record = 1; record < sample.records; record++)
    if (widthOf(sample, record) === widthOf(sample, 0)) alike++;
  return alike;
}

/**
 * Returns the sample of the best delimiter: it splits the first record, and gives the most other records the same
 * number of fields. If fewer than half of them match, the sample is not split.
 */
function detectDelimiter(
  name: string,
  sampleBy: (delimiter: string) => Sample | undefined,
  notes: string[],
): Sample | undefined {
  let best: Sample | undefined;
  for (const delimiter of DELIMITERS) {
    const sample = sampleBy(delimiter);
    if (!sample || sample.records === 0 || widthOf(sample, 0) < 2) continue;
    if (!best || countLikeFirst(sample) > countLikeFirst(best)) best = sample;
  }
  if (best && 2 * countLikeFirst(best) >= best.records - 1) return best;
  const whole = sampleBy('');
  if (best && whole) {
    notes.push(
      `each line of ${name} is read as one column: '${formatDelimiter(best.delimiter)}' splits the first line but not the ` +
        `next ones. Use --delimiter '${formatDelimiter(best.delimiter)}' if it separates columns`,
    );
  }
  return whole;
}

/** Returns the fields of a record as strings. */
function fieldsOf(sample: Sample, record: number): string[] {
  const values = sampleValues(sample, record);
  return Array.from({ length: values.rows }, (_, i) => Buffer.from(textOf(values, i)).toString());
}

/** Returns the fields of one record as if they were the values of a column. */
function sampleValues({ splitter, bytes, delimiter }: Sample, record: number): Values {
  const [from, to] = [splitter.firsts[record] as number, splitter.firsts[record + 1] as number];
  const rows = to - from;
  const values = emptyValues(bytes, rows);
  const width = bytesOf(delimiter).length;
  let begin = splitter.begins[record] as number;
  for (let k = 0; k < rows; k++) {
    const end = splitter.fieldEnds[from + k] as number;
    putField(values, k, begin, end);
    begin = end + width;
  }
  return values;
}

/** Allocates values for CSV fields. */
export const emptyValues = (bytes: Uint8Array, rows: number): Values => ({
  ...{ rows, bytes, unescape: unquoteField },
  begins: new Int32Array(rows),
  ends: new Int32Array(rows),
  forms: new Uint8Array(rows),
  lines: new Float64Array(rows),
});

/** Sets the form and the range of a field. An empty range is a missing value. */
export function putField(
  { bytes, begins, ends, forms }: Values,
  row: number,
  begin: number,
  end: number,
): void {
  if (end <= begin) {
    forms[row] = FORM.missing;
    return;
  }
  const isQuoted = bytes[begin] === QUOTE;
  begins[row] = isQuoted ? begin + 1 : begin;
  ends[row] = isQuoted ? end - 1 : end;
  if (!isQuoted) forms[row] = FORM.bare;
  else {
    forms[row] = FORM.text;
    for (let at = begin + 1; at < end - 1; at++) {
      if (bytes[at] !== QUOTE) continue;
      forms[row] = FORM.escaped;
      break;
    }
  }
}

function lineEndAt(bytes: Uint8Array, at: number): string {
  if (bytes[at] === 0x0d) return bytes[at + 1] === 0x0a ? '\r\n' : '\r';
  return '\n';
}

/**
 * Returns whether the first record is a header. It is one if some column has text there, but numbers, dates, times or
 * booleans in most other records. It is not one if it contains such a value itself. Otherwise it is assumed to be one.
 */
function looksLikeHeader(sample: Sample, options: TextReadOptions, name: string, notes: string[]): boolean {
  const scanner = new NumberScanner(options);
  const isTyped = (values: Values, i: number): boolean => {
    if (scanner.scan(values, i)) return true;
    const text = Buffer.from(textOf(values, i)).toString();
    return (
      /^(?:true|false)$/i.test(text) ||
      isoDate(text) !== undefined ||
      isoTimestamp(text) !== undefined ||
      isoTime(text) !== undefined
    );
  };
  const width = widthOf(sample, 0);
  const first = sampleValues(sample, 0);
  const isEmpty = (values: Values, i: number): boolean => values.forms[i] === FORM.missing;
  const isNa = (values: Values, i: number): boolean => {
    const text = Buffer.from(textOf(values, i)).toString();
    return [options.na ?? []].flat().includes(text);
  };
  const typedBelow = new Int32Array(width);
  const otherBelow = new Int32Array(width);
  for (let record = 1; record < sample.records; record++) {
    const values = sampleValues(sample, record);
    for (let i = 0; i < Math.min(width, values.rows); i++) {
      if (isEmpty(values, i) || isNa(values, i)) continue;
      const below = isTyped(values, i) ? typedBelow : otherBelow;
      below[i] = (below[i] as number) + 1;
    }
  }
  const columns = Array.from({ length: width }, (_, i) => i);
  const hasTyped = columns.some((i) => !isEmpty(first, i) && isTyped(first, i));
  const isText = (i: number): boolean => !isEmpty(first, i) && !isNa(first, i) && !isTyped(first, i);
  if (columns.some((i) => isText(i) && (typedBelow[i] as number) > (otherBelow[i] as number))) return true;
  if (hasTyped || columns.some((i) => isNa(first, i))) return false;
  const names = fieldsOf(sample, 0)
    .slice(0, 5)
    .map((field) => shortenValue(field))
    .join(', ');
  notes.push(
    `the first line of ${name} is read as column names (${names}${width > 5 ? ', …' : ''}). Use --no-header if it is a row`,
  );
  return true;
}
