import type { Argv } from 'yargs';
import { type CountsArguments, withCounts } from './distinct.js';
import { type InOutArguments, withInOut } from './in-out.js';
import { type InputArguments, type OutputArguments, withInput, withTo } from './key-files.js';
import { type MemoryArguments, withMemory } from './memory.js';
import { type OrderArguments, withOrder } from './order.js';
import { type RecordArguments, withRecords } from './records.js';
import { type RunArguments, withRun } from './run.js';

export const command = 'unique <in..>';
export const describe = 'Write the distinct keys of files, sorted, and how often each is there';

export interface UniqueArguments
  extends InOutArguments,
    OrderArguments,
    InputArguments,
    MemoryArguments,
    CountsArguments,
    OutputArguments,
    RecordArguments,
    RunArguments {
  readonly dtype: string | undefined;
  readonly verify: boolean;
}

export const builder = (yargs: Argv) =>
  withInOut(withRun(withCounts(withMemory(withTo(withInput(withRecords(withOrder(yargs))))))))
    .option('verify', {
      type: 'boolean',
      default: false,
      describe: 'check order and permutation of the sort',
    })
    .example('$0 unique ids.u64 -o distinct.u64', 'each key once, in order')
    .example('$0 unique in.npy -o distinct.npy --counts counts.npy', 'and how often it was there')
    .example('$0 unique in.dat -o out.dat --record 100 --key 0:10', 'the first record of each key')
    .epilogue(
      'The same as sort --unique. Keys are compared as numbers: all NaNs are one, and so are both zeros; the first of ' +
        'them in the order stands for all. A matrix is taken as the keys that it has. OUT is replaced when all is well.',
    );
