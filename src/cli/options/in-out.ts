/** Several input files and one output file. */
import type { Argv } from 'yargs';

export interface InOutArguments {
  readonly in: readonly string[];
  readonly out: string;
}

/**
 * Adds the inputs and --out.
 *
 * @param what description of the inputs, in the plural
 */
export const withInOut = <T>(yargs: Argv<T>, what = 'files of keys with one dtype') =>
  yargs
    .positional('in', {
      type: 'string',
      array: true,
      demandOption: true,
      describe: `${what}, '-' for stdin`,
    })
    .option('out', {
      alias: 'o',
      type: 'string',
      nargs: 1,
      demandOption: true,
      describe: "output file, '-' for stdout",
    });
