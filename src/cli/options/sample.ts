import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { text } from './kinds.js';
import { withRows } from './rows.js';

export const builder = (yargs: Argv) =>
  withRows(yargs)
    .option('n', text('-n N: number of rows to select, such as 100 or 1e6; all rows if there are fewer'))
    .option('fraction', text('probability of each row to be selected, such as 0.01'))
    .group(['dtype', 'format', 'column'], 'Input:')
    .group(['n', 'fraction', 'seed'], 'Selection:')
    .group(['out', 'to'], 'Output:')
    .group(['memory', 'json'], 'Execution:')
    .example('$0 sample trades.csv -n 1000 -o some.csv --seed 7', '1,000 rows of a table')
    .example('$0 sample words.txt -n 10', 'ten lines, like shuf -n, in the order of the file')
    .example('$0 sample keys.f64 --fraction 0.01 -o some.f64', 'about one key of 100')
    .epilogue(
      'The sample is without replacement and in the order of the input; every sample is equally likely. With -n, it has ' +
        'the rows that clsort shuffle puts first with the same seed; with --fraction, the number of rows varies. CSV, NDJSON, Parquet and Arrow files are tables, ' +
        'unless --column names one column; .txt and .lines files, text from stdin and --format lines are lines. OUT is ' +
        'replaced only on success.',
    );

export type SampleArguments = ArgumentsOf<typeof builder>;
