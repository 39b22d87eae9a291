import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { withInOut } from './in-out.js';
import { withDtype, withInput, withTo } from './key-files.js';

export const builder = (yargs: Argv) =>
  withInOut(withTo(withInput(withDtype(yargs))))
    .group(['dtype', 'format', 'column'], 'Input:')
    .group(['out', 'to'], 'Output:')
    .example('$0 concat a.npy b.u32 c.u32be.gz -o all.npy', 'inputs of different formats')
    .epilogue(
      'OUT has the format of the first file unless its name defines one. Matrices with the same number of columns are stacked vertically.',
    );

export type ConcatArguments = ArgumentsOf<typeof builder>;
