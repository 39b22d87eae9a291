/** Options that name the inputs and outputs of `sort`. */
import type { Argv } from 'yargs';
import { text, words } from './kinds.js';

export interface SortPaths {
  readonly in: readonly string[];
  readonly out: string | undefined;
  readonly 'out-dir': string | undefined;
}

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
