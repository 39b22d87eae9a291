/** Options of sorts that exceed memory. */
import type { Argv } from 'yargs';

export interface BudgetArguments {
  readonly memory: string | undefined;
}

export interface MemoryArguments extends BudgetArguments {
  readonly tmp: string | undefined;
  readonly resume: boolean;
  readonly restart: boolean;
}

/** Adds --memory. */
export const withBudget = <T>(yargs: Argv<T>) =>
  yargs.option('memory', {
    alias: 'S',
    type: 'string',
    nargs: 1,
    describe: 'most memory to sort in, as 2G or 50%; default half of what is free',
  });

/** Adds --memory, --tmp, --resume and --restart. */
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
      describe: 'resume an interrupted sort of more than memory holds',
    })
    .option('restart', {
      type: 'boolean',
      default: false,
      describe: 'give up what an interrupted sort has done, and begin anew',
    });
