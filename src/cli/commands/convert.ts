import type { Console } from '../console.js';
import { runCopy } from '../copy-files.js';
import type { ExitCode } from '../exit-code.js';
import { cannotCombine, missingOption } from '../option-errors.js';
import type { ConvertArguments } from '../options/convert.js';

export const run = async (args: ConvertArguments, console: Console): Promise<ExitCode> =>
  runCopy([args.in], outOf(args), args, console, { acceptsTables: true });

/**
 * Returns the path of the output.
 *
 * @throws UsageError when no output is named, or two different ones
 */
function outOf({ result, out = result }: ConvertArguments): string {
  if (out === undefined) throw missingOption('convert', '--out', 'Pass a file, as in -o keys.npy');
  if (result !== undefined && result !== out) {
    throw cannotCombine(`'${result}'`, `--out '${out}'`, 'both name the output');
  }
  return out;
}
