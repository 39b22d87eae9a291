import type { Argv } from 'yargs';
import { type InOutArguments, withInOut } from './in-out.js';
import { type InputArguments, type OutputArguments, withDtype, withInput, withTo } from './key-files.js';
import { type BudgetArguments, withBudget } from './memory.js';
import { type RunArguments, withRun } from './run.js';

export const command = 'topk <in..>';
export const describe = 'Write the largest keys of files, or the smallest, in order';

export interface TopKArguments
  extends InOutArguments,
    InputArguments,
    BudgetArguments,
    OutputArguments,
    RunArguments {
  readonly k: string;
  readonly smallest: boolean;
  readonly nan: string;
  readonly bits: string | undefined;
  readonly argsort: boolean;
  readonly verify: boolean;
}

export const builder = (yargs: Argv) =>
  withInOut(withRun(withBudget(withTo(withInput(withDtype(yargs))))))
    .option('k', {
      type: 'string',
      nargs: 1,
      demandOption: true,
      describe: '-k N: how many keys, as 100, 1e6 or 16Mi; all where there are fewer',
    })
    .option('smallest', {
      type: 'boolean',
      default: false,
      describe: 'the smallest, the smallest of all first',
    })
    .option('nan', {
      type: 'string',
      default: 'last',
      choices: ['first', 'last'],
      describe: 'whether NaNs come before the numbers, or only where these do not suffice',
    })
    .option('bits', { type: 'string', describe: 'compare only bits A to B of the code, as A:B' })
    .option('argsort', {
      type: 'boolean',
      default: false,
      describe: 'write where the keys are instead of them',
    })
    .option('verify', {
      type: 'boolean',
      default: false,
      describe: 'check that they are in order, and that no other key comes before them',
    })
    .example('$0 topk prices.f64 -k 100 -o top.f64', 'the largest first')
    .example('$0 topk latency.npy -k 10 --smallest --argsort -o fastest.npy', 'where the ten smallest are')
    .epilogue(
      'The files are read once, in memory for a part of them. Of equal keys those are taken that come first, and of ' +
        'several files and of a matrix the keys count through. OUT is replaced when all is well.',
    );
