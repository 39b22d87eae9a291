import type { Argv } from 'yargs';
import type { ArgumentsOf } from '../spec.js';
import { withAxis, withInput } from './key-files.js';
import { flag, required, text } from './kinds.js';
import { withOrder } from './order.js';
import { withRecords } from './records.js';

export const builder = (yargs: Argv) =>
  withAxis(withInput(withRecords(withOrder(yargs))))
    .positional('file', required("file of keys, '-' for stdin"))
    .option('against', text('also check that FILE is a permutation of this file'))
    .option('json', flag('print the result as JSON'))
    .group(['dtype', 'column', 'record', 'key'], 'Input:')
    .group(['descending', 'nan', 'axis'], 'Order:')
    .group(['against', 'json'], 'Result:')
    .example('$0 check out.u32 --against in.u32', 'order and permutation')
    .example('$0 check out.npy --against in.f64be.gz', 'files of two formats')
    .example('$0 check out.dat --record 100 --key 0:10', 'records of 100 bytes, by the first 10 bytes')
    .epilogue('The exit code is 0 if the file is sorted (and a permutation), and 1 if it is not.');

export type CheckArguments = ArgumentsOf<typeof builder>;
