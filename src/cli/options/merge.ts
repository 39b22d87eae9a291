import type { Argv } from 'yargs';
import { type DistinctArguments, withUnique } from './distinct.js';
import { type InOutArguments, withInOut } from './in-out.js';
import { type InputArguments, type OutputArguments, withInput, withTo } from './key-files.js';
import { type BudgetArguments, withBudget } from './memory.js';
import { type OrderArguments, withOrder } from './order.js';
import { type RecordArguments, withRecords } from './records.js';
import { type RunArguments, withRun } from './run.js';

export const command = 'merge <in..>';
export const describe = 'Merge sorted files of keys';

export interface MergeArguments
  extends InOutArguments,
    OrderArguments,
    InputArguments,
    BudgetArguments,
    DistinctArguments,
    OutputArguments,
    RecordArguments,
    RunArguments {
  readonly dtype: string | undefined;
}

export const builder = (yargs: Argv) =>
  withInOut(
    withRun(withUnique(withBudget(withTo(withInput(withRecords(withOrder(yargs))))))),
    'sorted files of keys of one dtype',
  )
    .example('$0 merge a.npy b.f64 c.f64be.gz -o all.npy', 'in any formats, and in memory for a part of each')
    .example('$0 merge monday.u32 tuesday.u32 -u -o both.u32', 'each key once')
    .example(
      '$0 merge a.dat b.dat -o all.dat --record 100 --key 0:10',
      'records of 100 bytes, by the first ten',
    )
    .epilogue(
      'Equal keys stay in the order of the files. A file that is not sorted as the options say is refused, with the ' +
        'position of the first key that is out of order; OUT is replaced when all is well.',
    );
