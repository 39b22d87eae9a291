import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { withInOut } from './in-out.js';
import { withDtype, withInput, withTo } from './key-files.js';
import { flag, word } from './kinds.js';
import { withBudget } from './memory.js';
import { withRun } from './run.js';

export const builder = (yargs: Argv) =>
  withInOut(withRun(withBudget(withTo(withInput(withDtype(yargs))))))
    .option('k', {
      type: 'string',
      nargs: 1,
      demandOption: true,
      describe: '-k N: number of keys, such as 100, 1e6 or 16Mi; all keys if there are fewer',
    })
    .option('smallest', flag('select the smallest keys, in ascending order'))
    .option('nan', {
      ...word('first: NaNs before all numbers; last: NaNs only if there are too few numbers'),
      default: 'last',
      choices: ['first', 'last'],
    })
    .option('bits', word('compare only bits A to B of the encoded keys, as A:B'))
    .option('argsort', flag('write positions instead of keys'))
    .option('verify', flag('verify the order, and that no other key precedes the selected ones'))
    .group(['dtype', 'column'], 'Input:')
    .group(['k', 'smallest', 'nan'], 'Selection:')
    .group(['out', 'to', 'argsort'], 'Output:')
    .group(['device', 'memory', 'verify', 'json'], 'Execution:')
    .example('$0 topk prices.f64 -k 100 -o top.f64', 'largest keys first')
    .example(
      '$0 topk latency.npy -k 10 --smallest --argsort -o fastest.npy',
      'positions of the ten smallest keys',
    )
    .epilogue(
      'The files are read once, in pieces. Of equal keys, the first ones are selected. Positions count ' +
        'through all files and all rows of a matrix. OUT is replaced only on success.',
    );

export type TopKArguments = ArgumentsOf<typeof builder>;
