/** Options that name the inputs and outputs of `sort`. */
import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { text, words } from './kinds.js';

/** Adds the inputs, --out and --out-dir. */
export const withPaths = <T>(yargs: Argv<T>) =>
  yargs
    .positional(
      'in',
      words("files, '-' or none for stdin; several are sorted together, or each alone with --out-dir"),
    )
    .option('out', text("output file; default '-' for stdout", 'o'))
    .option(
      'out-dir',
      text('sort each file alone into this folder, under the same name; the folder is created'),
    );

export type SortPaths = ArgumentsOf<typeof withPaths<object>> & {
  /** Empty without inputs. */
  readonly in: readonly string[];
};
