/** Options that say what keys are and how they are ordered. */
import type { Argv } from 'yargs';
import { DTYPES } from '../../keys/dtype.js';

export interface OrderArguments {
  readonly dtype: string | undefined;
  readonly descending: boolean;
  readonly nan: string;
  readonly bits: string | undefined;
}

/** Adds --dtype, --descending, --nan and --bits. */
export const withOrder = <T>(yargs: Argv<T>) =>
  yargs
    .option('dtype', {
      type: 'string',
      describe: `what the keys are: ${DTYPES.join(' ')}`,
    })
    .option('descending', { alias: 'r', type: 'boolean', default: false, describe: 'largest key first' })
    .option('nan', { type: 'string', default: 'last', choices: ['first', 'last'], describe: 'where NaNs go' })
    .option('bits', { type: 'string', describe: 'compare only bits A to B of the code, as A:B' });

/** Adds --format. */
export const withFormat = <T>(yargs: Argv<T>) =>
  yargs.option('format', {
    type: 'string',
    default: 'auto',
    describe: "'raw': files are raw keys, whatever their names and headers say",
  });
