import type { Argv } from 'yargs';
import { type InOutArguments, withInOut } from './in-out.js';
import { type InputArguments, type OutputArguments, withDtype, withInput, withTo } from './key-files.js';
import { SCAN_OPS } from './op.js';
import { type RunArguments, withRun } from './run.js';

export const command = 'scan <in..>';
export const describe = 'Write the prefix sums of the keys of files';

export interface ScanArguments extends InOutArguments, InputArguments, OutputArguments, RunArguments {
  readonly inclusive: boolean;
  readonly op: string;
  readonly verify: boolean;
}

export const builder = (yargs: Argv) =>
  withInOut(withRun(withTo(withInput(withDtype(yargs)))))
    .option('inclusive', {
      type: 'boolean',
      default: false,
      describe: "each key's own value in its sum, too; by default only those of the keys before it",
    })
    .option('op', {
      type: 'string',
      default: 'sum',
      choices: [...SCAN_OPS],
      describe: 'by what keys are combined',
    })
    .option('verify', {
      type: 'boolean',
      default: false,
      describe: 'check that each result follows from the one before',
    })
    .example('$0 scan lengths.u64 -o offsets.u64', 'where each of them begins')
    .example('$0 scan sales.npy -o running.npy --inclusive', 'running totals')
    .example('$0 scan prices.f64 -o highest.f64 --op max --inclusive', 'the highest so far')
    .epilogue(
      "Results are of the keys' own type; sums and products of integers wrap, and there are none of f16. All keys are in memory at once. " +
        'OUT is replaced when all is well.',
    );
