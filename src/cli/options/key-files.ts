/** Options about files of keys: what they hold, as what they are written, and what of a matrix is meant. */
import type { Argv } from 'yargs';
import { KEY_FORMATS } from '../../io/keys.js';
import { DTYPES } from '../../keys/dtype.js';

const FORMATS = KEY_FORMATS.join(' ');

/** Adds --dtype. */
export const withDtype = <T>(yargs: Argv<T>) =>
  yargs.option('dtype', {
    type: 'string',
    describe: `what raw keys are where the name does not say it: ${DTYPES.join(' ')}; f64be for big-endian`,
  });

/** How texts are, on the way in and on the way out. */
export interface TextArguments {
  readonly header: boolean | undefined;
  readonly 'no-header': boolean | undefined;
  readonly delimiter: string | undefined;
}

/** Adds --header, --no-header and --delimiter. */
export const withText = <T>(yargs: Argv<T>) =>
  yargs
    .option('header', {
      type: 'boolean',
      describe: 'the first line of a CSV or TSV has names; by default as it looks, and in the output yes',
    })
    .option('no-header', {
      type: 'boolean',
      describe: 'a CSV or TSV has no line of names, nor has the output',
    })
    .option('delimiter', {
      alias: 't',
      type: 'string',
      nargs: 1,
      describe: "what stands between columns of a CSV, such as ';' or '\\t'; by default as it looks",
    });

export interface InputArguments extends TextArguments {
  readonly dtype?: string | undefined;
  readonly format: string;
  readonly column: string | undefined;
}

/** Adds --format, --column and what is said of texts. */
export const withInput = <T>(yargs: Argv<T>) =>
  withText(yargs)
    .option('format', {
      type: 'string',
      default: 'auto',
      describe: `what the input is: ${FORMATS}; raw: keys, whatever names and headers say`,
    })
    .option('column', { type: 'string', describe: 'take one column: by its number from 0, or by its name' });

/** Adds --axis. */
export const withAxis = <T>(yargs: Argv<T>) =>
  yargs.option('axis', {
    type: 'number',
    default: -1,
    describe: 'of a matrix, what is in order by itself: 0 each column, 1 each row (-1: the last axis)',
  });

export interface OutputArguments {
  readonly to: string | undefined;
}

/** Adds --to. */
export const withTo = <T>(yargs: Argv<T>) =>
  yargs.option('to', {
    type: 'string',
    describe: `what the output is where its name does not say it: ${FORMATS}; by default as the input`,
  });
