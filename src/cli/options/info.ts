import type { Argv } from 'yargs';
import { type InputArguments, withAxis, withDtype, withInput } from './key-files.js';

export const command = 'info <file>';
export const describe = 'Tell what a file of keys holds: format, dtype, count, range, order';

export interface InfoArguments extends InputArguments {
  readonly file: string;
  readonly axis: number;
  readonly json: boolean;
}

export const builder = (yargs: Argv) =>
  withAxis(withInput(withDtype(yargs)))
    .positional('file', { type: 'string', demandOption: true, describe: "file of keys, '-' for stdin" })
    .option('json', { type: 'boolean', default: false, describe: 'result as JSON' })
    .example('$0 info prices.npy', 'what its header says, and what its keys are like')
    .epilogue(
      'The file is read once. With --json numbers are strings, since JSON has neither 64 bits nor infinity.',
    );
