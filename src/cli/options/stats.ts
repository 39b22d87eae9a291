import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { withDtype, withInput } from './key-files.js';
import { requiredWords, text } from './kinds.js';
import { withSpill } from './memory.js';
import { withRun } from './run.js';

export const builder = (yargs: Argv) =>
  withRun(withSpill(withInput(withDtype(yargs)), "the system's folder for temporary files"))
    .positional('in', requiredWords("files of keys with one dtype, '-' for stdin"))
    .option('quantiles', {
      ...text('quantiles to print, from 0 to 1, separated by commas'),
      default: '0.25,0.5,0.75',
    })
    .group(['dtype', 'format', 'column'], 'Input:')
    .group(['quantiles', 'json'], 'Output:')
    .group(['device', 'memory', 'tmp'], 'Execution:')
    .example('$0 stats prices.f64', 'count, range, mean, quartiles, distinct keys and order')
    .example('$0 stats trades.csv --column price --quantiles 0.01,0.5,0.99', 'one column of a table')
    .epilogue(
      'Minimum, maximum, sum, mean and quantiles are of the numbers, without NaNs. Sum, mean and quantiles are computed ' +
        'exactly and rounded once: to the nearest double, or for integer keys beyond 2^53 to the nearest integer. ' +
        'Quantiles are interpolated linearly. Distinct keys are those of clsort unique. The files are read once. With ' +
        '--json, numbers are strings, since JSON has neither 64-bit integers nor infinity.',
    );

export type StatsArguments = ArgumentsOf<typeof builder>;
