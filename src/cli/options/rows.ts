/** Options of verbs that select or reorder rows at random. */
import type { Argv } from 'yargs';
import { type InOutArguments, withInOut } from './in-out.js';
import { type InputArguments, type OutputArguments, withDtype, withInput, withTo } from './key-files.js';
import { text } from './kinds.js';
import { type SpillArguments, withSpill } from './memory.js';
import { type RunArguments, withRun } from './run.js';

export interface RowArguments
  extends InOutArguments,
    InputArguments,
    OutputArguments,
    SpillArguments,
    RunArguments {
  readonly seed: string | undefined;
  readonly 'zero-terminated': boolean;
}

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
