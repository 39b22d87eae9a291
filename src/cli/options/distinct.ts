/** Options for equal keys. */
import type { Argv } from 'yargs';
import { flag, text } from './kinds.js';

/** Adds --counts. */
export const withCounts = <T>(yargs: Argv<T>) =>
  yargs.option('counts', text('output file for the count of each distinct key, as u64'));

/** Adds --unique and --counts. */
export const withUnique = <T>(yargs: Argv<T>) =>
  withCounts(yargs.option('unique', flag('write only the first of equal keys (tables: equal rows)', 'u')));
