/** Input files and one output file. */
import type { Argv } from 'yargs';

export interface OutArguments {
  readonly out: string;
}

export interface InOutArguments extends OutArguments {
  readonly in: readonly string[];
}

/** Adds --out. */
export const withOut = <T>(yargs: Argv<T>) =>
  yargs.option('out', {
    alias: 'o',
    type: 'string',
    nargs: 1,
    default: '-',
    describe: "output file; '-' for stdout",
  });

/**
 * Adds the inputs and --out.
 *
 * @param what description of the inputs, in the plural
 */
export const withInOut = <T>(yargs: Argv<T>, what = 'files of keys with one dtype') =>
  withOut(
    yargs.positional('in', {
      type: 'string',
      array: true,
      demandOption: true,
      describe: `${what}, '-' for stdin`,
    }),
  );
