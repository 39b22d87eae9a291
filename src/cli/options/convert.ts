import type { Argv } from 'yargs';
import { type InputArguments, type OutputArguments, withDtype, withInput, withTo } from './key-files.js';

export const command = 'convert <in> [result]';
export const describe = 'Write the keys of a file in another format, as they stand';

export interface ConvertArguments extends InputArguments, OutputArguments {
  readonly in: string;
  readonly result: string | undefined;
  readonly out: string | undefined;
}

export const builder = (yargs: Argv) =>
  withTo(withInput(withDtype(yargs)))
    .positional('in', { type: 'string', demandOption: true, describe: "file of keys, '-' for stdin" })
    .positional('result', { type: 'string', describe: 'the same as --out' })
    .option('out', { alias: 'o', type: 'string', nargs: 1, describe: "result, '-' for stdout" })
    .example('$0 convert prices.npy -o prices.f64be', 'big-endian doubles without a header')
    .example('$0 convert keys.bin -o keys.npy.gz --dtype u32', 'a header in front, and smaller')
    .epilogue(
      'Formats are told by the extensions. The dtype stays as it is. OUT is replaced when all is well.',
    );
