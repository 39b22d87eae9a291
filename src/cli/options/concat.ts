import type { Argv } from 'yargs';
import { type InputArguments, type OutputArguments, withDtype, withInput, withTo } from './key-files.js';

export const command = 'concat <in..>';
export const describe = 'Put files of keys together, one behind the other';

export interface ConcatArguments extends InputArguments, OutputArguments {
  readonly in: readonly string[];
  readonly out: string;
}

export const builder = (yargs: Argv) =>
  withTo(withInput(withDtype(yargs)))
    .positional('in', {
      type: 'string',
      array: true,
      demandOption: true,
      describe: "files of keys of one dtype, '-' for stdin",
    })
    .option('out', {
      alias: 'o',
      type: 'string',
      nargs: 1,
      demandOption: true,
      describe: "result, '-' for stdout",
    })
    .example('$0 concat a.npy b.u32 c.u32be.gz -o all.npy', 'whatever format each is in')
    .epilogue(
      'OUT is of the format of the first file where its name says nothing. Matrices of as many columns are put below each other.',
    );
