import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { withInOut } from './in-out.js';
import { withDtype, withInput, withTo } from './key-files.js';
import { flag, word } from './kinds.js';
import { SCAN_OPS } from './op.js';
import { withRun } from './run.js';

export const builder = (yargs: Argv) =>
  withInOut(withRun(withTo(withInput(withDtype(yargs)))))
    .option('inclusive', flag('inclusive scan; default exclusive'))
    .option('op', { ...word('operator that combines keys'), default: 'sum', choices: [...SCAN_OPS] })
    .option('verify', flag('verify each result against the previous one'))
    .option(
      'result-dtype',
      word(
        'dtype of the results, which must represent every key; default from the name of OUT, otherwise that of the keys',
      ),
    )
    .group(['dtype', 'column'], 'Input:')
    .group(['out', 'to', 'result-dtype'], 'Output:')
    .group(['inclusive', 'op', 'device', 'verify', 'json'], 'Execution:')
    .example('$0 scan lengths.u8 -o offsets.u64', 'sums of bytes, as 64-bit integers')
    .example('$0 scan lengths.u64 -o offsets.u64', 'offset of each segment')
    .example('$0 scan sales.npy -o running.npy --inclusive', 'running totals')
    .example('$0 scan prices.f64 -o highest.f64 --op max --inclusive', 'running maximum')
    .epilogue(
      'Sums and products of integers wrap in the dtype of the results; those of f16 and bf16 require --result-dtype f32. All keys must fit in memory. ' +
        'OUT is replaced only on success.',
    );

export type ScanArguments = ArgumentsOf<typeof builder>;
