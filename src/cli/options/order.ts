/** Options that define key type and order. */
import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { withDtype } from './key-files.js';
import { flag, word } from './kinds.js';

/** Adds --dtype, --descending, --nan and --bits. */
export const withOrder = <T>(yargs: Argv<T>) =>
  withWholeOrder(yargs).option('bits', word('compare only bits A to B of the encoded keys, as A:B'));

/** Adds --dtype, --descending and --nan. */
export const withWholeOrder = <T>(yargs: Argv<T>) =>
  withDtype(yargs)
    .option('descending', flag('largest key first', 'r'))
    .option('nan', { ...word('position of NaNs'), default: 'last', choices: ['first', 'last'] });

export type OrderArguments = ArgumentsOf<typeof withOrder<object>>;

export type WholeOrderArguments = ArgumentsOf<typeof withWholeOrder<object>>;
