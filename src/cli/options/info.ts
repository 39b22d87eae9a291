import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { withAxis, withDtype, withInput } from './key-files.js';
import { flag, required } from './kinds.js';

export const builder = (yargs: Argv) =>
  withAxis(withInput(withDtype(yargs)))
    .positional('file', required("file of keys or a table, '-' for stdin"))
    .option('json', flag('print the result as JSON'))
    .group(['dtype', 'format', 'column', 'axis'], 'Input:')
    .group(['json'], 'Output:')
    .example('$0 info prices.npy', 'header and properties of the keys')
    .example('$0 info trades.parquet', 'number of rows, names and types of the columns')
    .epilogue(
      'A file of several columns, or of one that is not numbers, is described as a table, unless --column or --dtype is given. With --json, numbers are strings, since JSON has neither 64-bit integers nor infinity.',
    );

export type InfoArguments = ArgumentsOf<typeof builder>;
