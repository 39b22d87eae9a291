import type { Argv } from 'yargs';
import { type OrderArguments, withFormat, withOrder } from './order.js';
import { type RecordArguments, withRecords } from './records.js';

export const command = 'check <file>';
export const describe = 'Check that a raw file is sorted';

export interface CheckArguments extends OrderArguments, RecordArguments {
  readonly file: string;
  readonly against: string | undefined;
  readonly format: string;
  readonly json: boolean;
}

export const builder = (yargs: Argv) =>
  withFormat(withRecords(withOrder(yargs)))
    .positional('file', { type: 'string', demandOption: true, describe: "raw file, '-' for stdin" })
    .option('against', {
      type: 'string',
      nargs: 1,
      describe: 'also check that FILE holds the keys of this file, each as often',
    })
    .option('json', { type: 'boolean', default: false, describe: 'result as JSON' })
    .example('$0 check out.u32 --dtype u32 --against in.u32', 'order and permutation')
    .example('$0 check out.dat --record 100 --key 0:10', 'records of 100 bytes, by the first ten')
    .epilogue('Exit code 0 when the file is sorted (and a permutation), 1 when it is not.');
