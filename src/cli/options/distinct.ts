/** Options for equal keys. */
import type { Argv } from 'yargs';

export interface CountsArguments {
  readonly counts: string | undefined;
}

export interface DistinctArguments extends CountsArguments {
  readonly unique: boolean;
}

/** Adds --counts. */
export const withCounts = <T>(yargs: Argv<T>) =>
  yargs.option('counts', {
    type: 'string',
    nargs: 1,
    describe: 'file for how often each distinct key was there, as u64',
  });

/** Adds --unique and --counts. */
export const withUnique = <T>(yargs: Argv<T>) =>
  withCounts(
    yargs.option('unique', {
      alias: 'u',
      type: 'boolean',
      default: false,
      describe:
        'write of equal keys (records: those whose keys are equal; tables: equal rows) only the first',
    }),
  );
