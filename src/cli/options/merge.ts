import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { withUnique } from './distinct.js';
import { withInOut } from './in-out.js';
import { withInput, withTo } from './key-files.js';
import { withBudget } from './memory.js';
import { withOrder } from './order.js';
import { withRecords } from './records.js';
import { withRun } from './run.js';

export const builder = (yargs: Argv) =>
  withInOut(
    withRun(withUnique(withBudget(withTo(withInput(withRecords(withOrder(yargs))))))),
    'sorted files of keys with one dtype',
  )
    .group(['dtype', 'column'], 'Input:')
    .group(['descending', 'nan'], 'Order:')
    .group(['out', 'to', 'unique', 'counts'], 'Output:')
    .group(['memory', 'json'], 'Execution:')
    .example('$0 merge a.npy b.f64 c.f64be.gz -o all.npy', 'inputs of different formats, read in pieces')
    .example('$0 merge monday.u32 tuesday.u32 -u -o both.u32', 'distinct keys')
    .example(
      '$0 merge a.dat b.dat -o all.dat --record 100 --key 0:10',
      'records of 100 bytes, by the first 10 bytes',
    )
    .epilogue(
      'Equal keys keep the order of the files. A file that is not in the given order is rejected with the ' +
        'position of the first key that is out of order. OUT is replaced only on success.',
    );

export type MergeArguments = ArgumentsOf<typeof builder>;
