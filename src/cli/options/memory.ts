/** Options of sorts that exceed memory. */
import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { flag, text } from './kinds.js';

/** Adds --memory. */
export const withBudget = <T>(yargs: Argv<T>) =>
  yargs.option('memory', text('memory limit, such as 2G or 50%; default half of the free memory', 'S'));

/** Adds --memory and --tmp. */
export const withSpill = <T>(yargs: Argv<T>, folder = 'the folder of OUT') =>
  withBudget(yargs).option('tmp', text(`folder for temporary files; default ${folder}`, 'T'));

/** Adds --memory, --tmp, --resume and --restart. */
export const withMemory = <T>(yargs: Argv<T>) =>
  withSpill(yargs)
    .option('resume', flag('resume an interrupted external sort'))
    .option('restart', flag('discard the progress of an interrupted external sort and start over'));

export type BudgetArguments = ArgumentsOf<typeof withBudget<object>>;

export type SpillArguments = ArgumentsOf<typeof withSpill<object>>;

export type MemoryArguments = ArgumentsOf<typeof withMemory<object>>;
