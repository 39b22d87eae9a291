/** Options for reading text files. */
import { UsageError } from '../../../util/errors.js';
import { invalidArgument } from '../../../util/invalid-argument.js';

/** How to handle records whose number of fields differs from the first record. */
export type Ragged = 'error' | 'fill' | 'skip';

export interface NumberStyle {
  /**
   * Decimal separator, one character.
   *
   * @defaultValue '.'
   */
  readonly decimal?: string | undefined;
  /**
   * Separator between groups of three digits, one character.
   *
   * @defaultValue none
   */
  readonly thousands?: string | undefined;
}

/** @throws UsageError when a separator is not allowed, or both are equal */
export function assertNumberStyle({ decimal = '.', thousands }: NumberStyle): void {
  for (const [name, sign] of Object.entries({ decimal, thousands })) {
    if (
      sign === undefined ||
      (/^[^\d\s+\-eE"]$/.test(sign) && sign.length === 1) ||
      (name === 'thousands' && sign === ' ')
    )
      continue;
    throw invalidArgument(name, 'one character other than a digit, sign or quote (such as , or .)', sign);
  }
  if (decimal === thousands) {
    throw new UsageError(
      `cannot use ${JSON.stringify(decimal)} for decimal and thousands: numbers would be ambiguous`,
    );
  }
}

/** Options for reading a text file. An undefined option is detected or has its default. */
export interface TextReadOptions extends NumberStyle {
  /**
   * Whether the first record of a CSV file contains the column names.
   *
   * @defaultValue detected from the first records
   */
  readonly header?: boolean | undefined;
  /**
   * Column delimiter of a CSV file.
   *
   * @defaultValue detected from the first records
   */
  readonly delimiter?: string | undefined;
  /**
   * Prefix of comment lines in a CSV file.
   *
   * @defaultValue none: every line is part of a record
   */
  readonly comment?: string | undefined;
  /**
   * Number of lines to skip at the beginning of a CSV file.
   *
   * @defaultValue `0`
   */
  readonly skip?: number | undefined;
  /**
   * How to handle lines of a CSV file with another number of fields than the first one: raise an error, fill in
   * missing fields, or skip the line.
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

/** Names of the text options. */
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

export const textOptionsOf = (options: TextReadOptions): TextReadOptions =>
  Object.fromEntries(
    TEXT_OPTIONS.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  );

/** Maximum bytes of a delimiter: any UTF-8 character. */
const MAX_DELIMITER_BYTES = 4;

/** @throws UsageError when the delimiter is not allowed */
export function assertDelimiter(delimiter: string | undefined): void {
  if (delimiter === undefined) return;
  const bytes = Buffer.byteLength(delimiter);
  if (bytes >= 1 && bytes <= MAX_DELIMITER_BYTES && !/[\0\r\n"]/.test(delimiter)) return;
  throw invalidArgument(
    'delimiter',
    `1 to ${MAX_DELIMITER_BYTES} bytes without quotes and line ends`,
    delimiter,
  );
}

/**
 * Checks the text options.
 *
 * @throws UsageError when an option is invalid
 */
export function assertTextOptions(options: TextReadOptions): void {
  const { delimiter, comment, skip = 0, ragged = 'error', na } = options;
  assertDelimiter(delimiter);
  assertNumberStyle(options);
  if (comment !== undefined && (comment === '' || /[\r\n"]/.test(comment))) {
    throw invalidArgument('comment', 'the beginning of comment lines without quotes and line ends', comment);
  }
  if (!Number.isSafeInteger(skip) || skip < 0) {
    throw invalidArgument('skip', 'a whole number of lines, 0 or more,', skip);
  }
  if (!['error', 'fill', 'skip'].includes(ragged)) {
    throw invalidArgument('ragged', 'error, fill or skip', ragged);
  }
  if (na !== undefined && ![na].flat().every((word) => typeof word === 'string' && word !== '')) {
    throw invalidArgument('na', 'one or more strings that are not empty (such as N/A)', na);
  }
}

/** Formats a delimiter in the syntax of the command line. */
export const formatDelimiter = (delimiter: string): string => (delimiter === '\t' ? '\\t' : delimiter);
