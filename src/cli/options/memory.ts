/** Options for what is larger than memory. */
import type { Argv } from 'yargs';

export interface BudgetArguments {
  readonly memory: string | undefined;
}

export interface MemoryArguments extends BudgetArguments {
  readonly tmp: string | undefined;
  readonly resume: boolean;
}

/** Adds --memory. */
export const withBudget = <T>(yargs: Argv<T>) =>
  yargs.option('memory', {
    alias: 'S',
    type: 'string',
    nargs: 1,
    describe: 'most memory to sort in, as 2G or 50%; default half of what is free',
  });

/** Adds --memory, --tmp and --resume. */
export const withMemory = <T>(yargs: Argv<T>) =>
  withBudget(yargs)
    .option('tmp', {
      alias: 'T',
      type: 'string',
      nargs: 1,
      describe: 'folder for temporary files; default that of OUT',
    })
    .option('resume', {
      type: 'boolean',
      default: false,
      describe: 'go on with a sort of more than memory holds that was ended',
    });
