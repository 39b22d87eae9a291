import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { withDtype, withInput, withTo } from './key-files.js';
import { required, text, word } from './kinds.js';

export const builder = (yargs: Argv) =>
  withTo(withInput(withDtype(yargs)))
    .positional('in', required("file of keys or a table, '-' for stdin"))
    .positional('result', word('same as --out'))
    .option('out', text("output file, '-' for stdout", 'o'))
    .group(['dtype', 'format', 'column', 'delimiter', 'header'], 'Input:')
    .group(['out', 'to'], 'Output:')
    .example('$0 convert prices.npy -o prices.f64be', 'big-endian doubles without a header')
    .example('$0 convert keys.bin -o keys.npy.gz --dtype u32', 'with a header, compressed')
    .example('$0 convert trades.csv -o trades.parquet', 'all rows and columns of a table')
    .epilogue(
      'File extensions define the formats. The order and the dtype of keys stay the same, as do the rows of a table. OUT is replaced only on success.',
    );

export type ConvertArguments = ArgumentsOf<typeof builder>;
