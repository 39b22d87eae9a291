import type { Argv } from 'yargs';
import { type RowArguments, withRows } from './rows.js';

export type ShuffleArguments = RowArguments;

export const builder = (yargs: Argv) =>
  withRows(yargs)
    .group(['dtype', 'format', 'column'], 'Input:')
    .group(['seed'], 'Order:')
    .group(['out', 'to'], 'Output:')
    .group(['device', 'memory', 'json'], 'Execution:')
    .example('$0 shuffle trades.parquet -o shuffled.parquet --seed 7', 'rows of a table')
    .example('$0 shuffle words.txt', 'lines, like shuf')
    .example('$0 shuffle keys.u32 -o shuffled.u32 --seed 7', 'keys; rows of a matrix stay together')
    .epilogue(
      'Every order is equally likely. Unlike sort -R, equal lines are not kept together. CSV, NDJSON, Parquet and Arrow ' +
        'files are tables, unless --column names one column; .txt and .lines files, text from stdin and --format lines ' +
        'are lines. OUT is replaced only on success.',
    );
