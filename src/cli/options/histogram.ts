import type { Argv } from 'yargs';
import { type InputArguments, withDtype, withInput } from './key-files.js';
import { type RunArguments, withRun } from './run.js';

export const command = 'histogram <in..>';
export const describe = 'Tell how many keys of files are in each bin';

export interface HistogramArguments extends InputArguments, RunArguments {
  readonly in: readonly string[];
  readonly bins: number | undefined;
  readonly range: string | undefined;
  readonly edges: string | undefined;
  readonly bits: string | undefined;
}

export const builder = (yargs: Argv) =>
  withRun(withInput(withDtype(yargs)))
    .positional('in', {
      type: 'string',
      array: true,
      demandOption: true,
      describe: "files of keys of one dtype, '-' for stdin",
    })
    .option('bins', { type: 'number', describe: 'how many bins of the range, by default 10' })
    .option('range', {
      type: 'string',
      nargs: 1,
      describe: 'from A to B, as A:B; by default from the smallest key to the largest',
    })
    .option('edges', {
      type: 'string',
      nargs: 1,
      describe: 'edges of the bins instead, with commas: 0,10,100',
    })
    .option('bits', {
      type: 'string',
      describe: 'a bin for each digit in bits A to B of the code instead, as A:B',
    })
    .example('$0 histogram prices.f64 --bins 20', 'a table of 20 bins')
    .example('$0 histogram image.u8 --bits 0:8 --json', 'how often each byte is there')
    .epilogue(
      'A bin holds the keys from its lower edge on that are below the next one, the last bin its upper edge too; NaN is in no ' +
        'bin, unless bins are digits. Without --range the files are read twice, so that stdin needs one.',
    );
