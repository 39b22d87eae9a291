import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { withAxis, withDtype, withInput } from './key-files.js';
import { flag, required } from './kinds.js';

export const builder = (yargs: Argv) =>
  withAxis(withInput(withDtype(yargs)))
    .positional('file', required("file of keys, '-' for stdin"))
    .option('json', flag('print the result as JSON'))
    .group(['dtype', 'format', 'column', 'axis'], 'Input:')
    .group(['json'], 'Output:')
    .example('$0 info prices.npy', 'header and properties of the keys')
    .epilogue(
      'The file is read once. With --json, numbers are strings, since JSON has neither 64-bit integers nor infinity.',
    );

export type InfoArguments = ArgumentsOf<typeof builder>;
