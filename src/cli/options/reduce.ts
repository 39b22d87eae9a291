import type { Argv } from 'yargs';
import { type InputArguments, withDtype, withInput } from './key-files.js';
import { OPS } from './op.js';
import { type RunArguments, withRun } from './run.js';

export const command = 'reduce <in..>';
export const describe = 'Tell the sum of the keys of files, the smallest or the largest';

export interface ReduceArguments extends InputArguments, RunArguments {
  readonly in: readonly string[];
  readonly op: string;
}

export const builder = (yargs: Argv) =>
  withRun(withInput(withDtype(yargs)))
    .positional('in', {
      type: 'string',
      array: true,
      demandOption: true,
      describe: "files of keys of one dtype, '-' for stdin",
    })
    .option('op', { type: 'string', default: 'sum', choices: [...OPS], describe: 'by what' })
    .example('$0 reduce prices.f64', 'their sum, and nothing else, on stdout')
    .example('$0 reduce a.npy b.npy --op max', 'the largest key of both')
    .epilogue(
      "Sums of integers have 64 bits and wrap; those of floats are of the keys' own type. Of a minimum or maximum NaN is the " +
        'result when it is among the keys. The files are read once, in memory for a part of them.',
    );
