import type { Argv } from 'yargs';
import { type InOutArguments, withInOut } from './in-out.js';
import { type InputArguments, type OutputArguments, withDtype, withInput, withTo } from './key-files.js';

export const command = 'concat <in..>';
export const describe = 'Put files of keys together, one behind the other';

export interface ConcatArguments extends InOutArguments, InputArguments, OutputArguments {}

export const builder = (yargs: Argv) =>
  withInOut(withTo(withInput(withDtype(yargs))))
    .example('$0 concat a.npy b.u32 c.u32be.gz -o all.npy', 'whatever format each is in')
    .epilogue(
      'OUT is of the format of the first file where its name says nothing. Matrices of as many columns are put below each other.',
    );
