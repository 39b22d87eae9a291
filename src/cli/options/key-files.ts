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

export interface InputArguments {
  readonly dtype?: string | undefined;
  readonly format: string;
  readonly column: string | undefined;
}

/** Adds --format and --column. */
export const withInput = <T>(yargs: Argv<T>) =>
  yargs
    .option('format', {
      type: 'string',
      default: 'auto',
      describe: `what the input is: ${FORMATS}; raw: keys, whatever names and headers say`,
    })
    .option('column', { type: 'string', describe: 'take one column of a matrix, by its number from 0' });

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
