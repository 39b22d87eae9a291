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
  readonly 'result-dtype': string | undefined;
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
    .option('result-dtype', {
      type: 'string',
      describe:
        "dtype of the results, which holds every key; by default as OUT's name says, else that of the keys",
    })
    .example('$0 scan lengths.u8 -o offsets.u64', 'sums of bytes, in 64 bits')
    .example('$0 scan lengths.u64 -o offsets.u64', 'where each of them begins')
    .example('$0 scan sales.npy -o running.npy --inclusive', 'running totals')
    .example('$0 scan prices.f64 -o highest.f64 --op max --inclusive', 'the highest so far')
    .epilogue(
      'Sums and products of integers wrap in the dtype of the results; those of f16 need --result-dtype f32. All keys are in memory at once. ' +
        'OUT is replaced when all is well.',
    );
