import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { withDtype, withInput } from './key-files.js';
import { requiredWords, word } from './kinds.js';
import { OPS } from './op.js';
import { withRun } from './run.js';

export const builder = (yargs: Argv) =>
  withRun(withInput(withDtype(yargs)))
    .positional('in', requiredWords("files of keys with one dtype, '-' for stdin"))
    .option('op', { ...word('operator'), default: 'sum', choices: [...OPS] })
    .group(['dtype', 'column'], 'Input:')
    .group(['op', 'device', 'json'], 'Execution:')
    .example('$0 reduce prices.f64', 'sum of the keys, alone on stdout')
    .example('$0 reduce a.npy b.npy --op max', 'largest key of both files')
    .epilogue(
      'Sums of integers have 64 bits and wrap; sums of floats have the dtype of the keys. A minimum or maximum is NaN ' +
        'if a key is NaN. The files are read once, in pieces.',
    );

export type ReduceArguments = ArgumentsOf<typeof builder>;
