/** Options of verbs that select or reorder rows at random. */
import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { withInOut } from './in-out.js';
import { withDtype, withInput, withTo } from './key-files.js';
import { text } from './kinds.js';
import { withSpill } from './memory.js';
import { withRun } from './run.js';

/** Adds the options of inputs, output and memory, --seed and --zero-terminated. */
export const withRows = <T>(yargs: Argv<T>) =>
  withInOut(
    withRun(withSpill(withTo(withInput(withDtype(yargs))))),
    'files of keys, tables or lines of text, all of one kind',
  )
    .option(
      'seed',
      text('seed of 64 bits; the same seed gives the same result; default: a new one, which is printed'),
    )
    .option('zero-terminated', {
      alias: 'z',
      type: 'boolean',
      default: false,
      describe: 'lines: lines end with a zero byte',
    });

export type RowArguments = ArgumentsOf<typeof withRows<object>>;
