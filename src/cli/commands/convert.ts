import { UsageError } from '../../util/errors.js';
import type { Console } from '../console.js';
import { runCopy } from '../copy-files.js';
import type { ExitCode } from '../exit-code.js';
import type { ConvertArguments } from '../options/convert.js';

export const run = async (args: ConvertArguments, console: Console): Promise<ExitCode> =>
  runCopy([args.in], outOf(args), args, console);

/**
 * Returns the path of the output.
 *
 * @throws UsageError when no output is named, or two different ones
 */
function outOf({ result, out = result }: ConvertArguments): string {
  if (out === undefined) throw new UsageError("no output: name one, as in '-o keys.npy'");
  if (result !== undefined && result !== out) {
    throw new UsageError(`two outputs, '${result}' and --out '${out}': give one of them`);
  }
  return out;
}
