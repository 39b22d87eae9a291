import type { Argv } from 'yargs';
import { type InOutArguments, withInOut } from './in-out.js';
import { type InputArguments, type OutputArguments, withDtype, withInput, withTo } from './key-files.js';
import { type RunArguments, withRun } from './run.js';

export const command = 'scan <in..>';
export const describe = 'Write the prefix sums of the keys of files';

export interface ScanArguments extends InOutArguments, InputArguments, OutputArguments, RunArguments {
  readonly inclusive: boolean;
}

export const builder = (yargs: Argv) =>
  withInOut(withRun(withTo(withInput(withDtype(yargs)))))
    .option('inclusive', {
      type: 'boolean',
      default: false,
      describe: "each key's own value in its sum, too; by default only those of the keys before it",
    })
    .example('$0 scan lengths.u64 -o offsets.u64', 'where each of them begins')
    .example('$0 scan sales.npy -o running.npy --inclusive', 'running totals')
    .epilogue(
      "Sums are of the keys' own type, u32 i32 u64 i64 f32 or f64; those of integers wrap. All keys are in memory at once.\n" +
        'OUT is replaced when all is well.',
    );
