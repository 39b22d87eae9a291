/** How texts are read, as users say it. */
import { UsageError } from '../../util/errors.js';

/** What happens to records that have another number of fields than the first one. */
export type Ragged = 'error' | 'fill' | 'skip';

export interface NumberStyle {
  /**
   * The character in front of a fraction.
   *
   * @defaultValue '.'
   */
  readonly decimal?: string | undefined;
  /**
   * The character between groups of three digits.
   *
   * @defaultValue none
   */
  readonly thousands?: string | undefined;
}

/** @throws UsageError for what no number can have in it */
export function assertNumberStyle({ decimal = '.', thousands }: NumberStyle): void {
  for (const [name, sign] of Object.entries({ decimal, thousands })) {
    if (
      sign === undefined ||
      (/^[^\d\s+\-eE"]$/.test(sign) && sign.length === 1) ||
      (name === 'thousands' && sign === ' ')
    )
      continue;
    throw new UsageError(
      `${name} is ${JSON.stringify(sign)}: expected one character that is no digit, sign or quote, such as , or .`,
    );
  }
  if (decimal === thousands) {
    throw new UsageError(
      `decimal and thousands are both ${JSON.stringify(decimal)}: a number cannot tell them apart`,
    );
  }
}

/** How a text is read; what is undefined is detected, or as usual. */
export interface TextReadOptions extends NumberStyle {
  /**
   * Whether the first record of a CSV has the names of its columns.
   *
   * @defaultValue as the first records show
   */
  readonly header?: boolean | undefined;
  /**
   * What stands between the columns of a CSV.
   *
   * @defaultValue as the first records show
   */
  readonly delimiter?: string | undefined;
  /**
   * What the lines of a CSV begin with that are left out.
   *
   * @defaultValue none: every line is part of a record
   */
  readonly comment?: string | undefined;
  /**
   * Lines at the beginning of a CSV that are left out.
   *
   * @defaultValue `0`
   */
  readonly skip?: number | undefined;
  /**
   * What happens to lines of a CSV that have another number of fields than the first one: an error, missing fields are filled in, or
   * the lines are left out.
   *
   * @defaultValue `'error'`
   */
  readonly ragged?: Ragged | undefined;
  /**
   * Values that stand for missing ones.
   *
   * @defaultValue none
   */
  readonly na?: string | readonly string[] | undefined;
}

/** The names of these options. */
export const TEXT_OPTIONS = [
  'header',
  'delimiter',
  'comment',
  'skip',
  'ragged',
  'na',
  'decimal',
  'thousands',
] as const;

/** The options of how a text is read, out of all options. */
export const textOptionsOf = (options: TextReadOptions): TextReadOptions =>
  Object.fromEntries(
    TEXT_OPTIONS.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  );

/** Longest delimiter, in bytes. */
const MAX_DELIMITER_BYTES = 4;

/** @throws UsageError for what cannot stand between columns */
export function assertDelimiter(delimiter: string | undefined): void {
  if (delimiter === undefined) return;
  const bytes = Buffer.byteLength(delimiter);
  if (bytes >= 1 && bytes <= MAX_DELIMITER_BYTES && !/[\0\r\n"]/.test(delimiter)) return;
  throw new UsageError(
    `the delimiter ${JSON.stringify(delimiter)} cannot stand between columns: expected one to ` +
      `${MAX_DELIMITER_BYTES} bytes, without quotes and ends of lines`,
  );
}

/** @throws UsageError */
export function assertTextOptions(options: TextReadOptions): void {
  const { delimiter, comment, skip = 0, ragged = 'error', na } = options;
  assertDelimiter(delimiter);
  assertNumberStyle(options);
  if (comment !== undefined && (comment === '' || /[\r\n"]/.test(comment))) {
    throw new UsageError(
      `comment is ${JSON.stringify(comment)}: expected what such lines begin with, without quotes and ends of lines`,
    );
  }
  if (!Number.isSafeInteger(skip) || skip < 0) {
    throw new UsageError(`skip is ${skip}: expected a whole number of lines from 0 on`);
  }
  if (!['error', 'fill', 'skip'].includes(ragged)) {
    throw new UsageError(`ragged is ${JSON.stringify(ragged)}: expected error, fill or skip`);
  }
  if (na !== undefined && ![na].flat().every((word) => typeof word === 'string' && word !== '')) {
    throw new UsageError(
      `na is ${JSON.stringify(na)}: expected values that stand for missing ones, such as N/A`,
    );
  }
}

/** A delimiter as the command takes it. */
export const formatDelimiter = (delimiter: string): string => (delimiter === '\t' ? '\\t' : delimiter);
