/** Input files and one output file. */
import type { Argv } from 'yargs';
import { requiredWords, text } from './kinds.js';

/** Adds --out. */
export const withOut = <T>(yargs: Argv<T>) =>
  yargs.option('out', { ...text("output file; '-' for stdout", 'o'), default: '-' });

/**
 * Adds the inputs and --out.
 *
 * @param what description of the inputs, in the plural
 */
export const withInOut = <T>(yargs: Argv<T>, what = 'files of keys with one dtype') =>
  withOut(yargs.positional('in', requiredWords(`${what}, '-' for stdin`)));
