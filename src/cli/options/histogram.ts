import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { withDtype, withInput } from './key-files.js';
import { requiredWords, text, word } from './kinds.js';
import { withRun } from './run.js';

export const builder = (yargs: Argv) =>
  withRun(withInput(withDtype(yargs)))
    .positional('in', requiredWords("files of keys with one dtype, '-' for stdin"))
    .option('bins', { type: 'number', describe: 'number of bins; default 10' })
    .option('range', text('range of the bins, as A:B; default from the smallest to the largest key'))
    .option('edges', text('edges of the bins instead, comma-separated: 0,10,100'))
    .option('bits', word('one bin for each digit in bits A to B of the encoded keys instead, as A:B'))
    .group(['dtype', 'column'], 'Input:')
    .group(['bins', 'range', 'edges', 'bits'], 'Bins:')
    .group(['device', 'json'], 'Execution:')
    .example('$0 histogram prices.f64 --bins 20', 'table of 20 bins')
    .example('$0 histogram image.u8 --bits 0:8 --json', 'count of each byte value')
    .epilogue(
      'A bin includes its lower edge and excludes its upper edge; the last bin includes both. NaN is in no ' +
        'bin unless the bins are digits. Without --range the files are read twice, so stdin requires --range.',
    );

export type HistogramArguments = ArgumentsOf<typeof builder>;
