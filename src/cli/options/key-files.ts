/** Options about key files: key type, text format, column and axis. */
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

/** Options about text, for input and output. */
export interface TextArguments {
  readonly header: boolean | undefined;
  readonly 'no-header': boolean | undefined;
  readonly delimiter: string | undefined;
  readonly comment?: string | undefined;
  readonly skip?: number | undefined;
  readonly ragged?: 'error' | 'fill' | 'skip' | undefined;
  readonly na?: readonly string[] | undefined;
  readonly decimal?: string | undefined;
  readonly thousands?: string | undefined;
}

/** Adds the text options: --header, --no-header, --delimiter and so on. */
export const withText = <T>(yargs: Argv<T>) =>
  yargs
    .option('header', {
      type: 'boolean',
      describe:
        'the first line of a CSV or TSV has names; detected by default, and the output has one as the input',
    })
    .option('no-header', {
      type: 'boolean',
      describe: 'a CSV or TSV has no line of names, nor has the output',
    })
    .option('delimiter', {
      alias: 't',
      type: 'string',
      nargs: 1,
      describe: "delimiter of a CSV, such as ';' or '\\t'; detected by default",
    })
    .option('comment', { type: 'string', nargs: 1, describe: 'lines of a CSV that begin so are left out' })
    .option('skip', {
      type: 'number',
      nargs: 1,
      describe: 'lines at the beginning of a CSV that are left out',
    })
    .option('ragged', {
      type: 'string',
      choices: ['error', 'fill', 'skip'] as const,
      describe: 'lines of a CSV with another number of fields; by default an error',
    })
    .option('na', {
      type: 'string',
      array: true,
      nargs: 1,
      describe: 'a value of a text that stands for a missing one, such as N/A; may be repeated',
    })
    .option('decimal', {
      type: 'string',
      nargs: 1,
      describe: 'decimal separator of numbers in texts, by default .',
    })
    .option('thousands', {
      type: 'string',
      nargs: 1,
      describe: 'separator of groups of three digits in texts',
    });

export interface InputArguments extends TextArguments {
  readonly dtype?: string | undefined;
  readonly format: string;
  readonly column: string | undefined;
}

/** Adds --format, --column and the text options. */
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
