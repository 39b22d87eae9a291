/** Options about key files: key type, text format, column and axis. */
import type { Argv } from 'yargs';
import { KEY_FORMATS } from '../../io/formats/keys.js';
import { DTYPES } from '../../keys/dtype.js';
import type { ArgumentsOf } from '../spec.js';
import { number, text, texts, word } from './kinds.js';

const FORMATS = KEY_FORMATS.join(' ');

/** Adds --dtype. */
export const withDtype = <T>(yargs: Argv<T>) =>
  yargs.option(
    'dtype',
    word(`dtype of raw keys if the file name does not define it: ${DTYPES.join(' ')}; f64be is big-endian`),
  );

/** Adds the text options: --header, --no-header, --delimiter and so on. */
export const withText = <T>(yargs: Argv<T>) =>
  yargs
    .option('header', {
      type: 'boolean',
      describe:
        'the first line of a CSV or TSV contains column names; detected by default, and the output follows the input',
    })
    .option('no-header', {
      type: 'boolean',
      describe: 'a CSV or TSV contains no column names, nor does the output',
    })
    .option('delimiter', text("CSV delimiter, such as ';' or '\\t'; detected by default", 't'))
    .option('comment', text('prefix of comment lines in a CSV, which are skipped'))
    .option('skip', number('number of lines to skip at the beginning of a CSV'))
    .option('ragged', {
      ...word('CSV lines with a different number of fields; default error'),
      choices: ['error', 'fill', 'skip'] as const,
    })
    .option('na', texts('text that represents a missing value, such as N/A; may be repeated'))
    .option('decimal', text('decimal separator in text; default .'))
    .option('thousands', text('thousands separator in text'));

/** Adds --format and the text options. */
export const withFormat = <T>(yargs: Argv<T>) =>
  withText(yargs).option('format', {
    ...word(`input format: ${FORMATS}; raw ignores file names and headers`),
    default: 'auto',
  });

/** Adds --format, --column and the text options. */
export const withInput = <T>(yargs: Argv<T>) =>
  withFormat(yargs).option('column', word('read one column, by its index from 0 or its name'));

/** Adds --axis. */
export const withAxis = <T>(yargs: Argv<T>) =>
  yargs.option('axis', {
    type: 'number',
    default: -1,
    describe: 'axis along which a matrix is sorted: 0 for columns, 1 for rows, -1 for the last axis',
  });

/** Adds --to. */
export const withTo = <T>(yargs: Argv<T>) =>
  yargs.option(
    'to',
    word(`output format if the file name does not define it: ${FORMATS}; default that of the input`),
  );

export type TextArguments = ArgumentsOf<typeof withText<object>>;

/** Not all verbs that read keys have --dtype. */
export type InputArguments = ArgumentsOf<typeof withInput<object>> &
  Partial<ArgumentsOf<typeof withDtype<object>>>;

export type OutputArguments = ArgumentsOf<typeof withTo<object>>;
