import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { withCounts } from './distinct.js';
import { withInOut } from './in-out.js';
import { withInput, withTo } from './key-files.js';
import { flag } from './kinds.js';
import { withMemory } from './memory.js';
import { withOrder } from './order.js';
import { withRecords } from './records.js';
import { withRun } from './run.js';

export const builder = (yargs: Argv) =>
  withInOut(withRun(withCounts(withMemory(withTo(withInput(withRecords(withOrder(yargs))))))))
    .option('duplicates-only', flag('write only keys that occur more than once'))
    .option('verify', flag('verify order and permutation of the sort'))
    .group(['dtype', 'column'], 'Input:')
    .group(['descending', 'nan'], 'Order:')
    .group(['out', 'to', 'duplicates-only', 'counts'], 'Output:')
    .group(['device', 'memory', 'verify', 'json'], 'Execution:')
    .example('$0 unique ids.u64 -o distinct.u64', 'distinct keys, in order')
    .example('$0 unique in.npy -o distinct.npy --counts counts.npy', 'with the count of each key')
    .example('$0 unique ids.u64 -o twice.u64 --duplicates-only', 'keys that occur more than once')
    .example('$0 unique in.dat -o out.dat --record 100 --key 0:10', 'first record of each key')
    .epilogue(
      'Same as sort --unique. Keys are compared as numbers: all NaNs are equal, and so are both zeros; the first of ' +
        'them in the order is written. A matrix is read as a sequence of keys. OUT is replaced only on success.',
    );

export type UniqueArguments = ArgumentsOf<typeof builder>;
