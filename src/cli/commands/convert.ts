import type { Console } from '../console.js';
import { runCopy } from '../copy-files.js';
import type { ExitCode } from '../exit-code.js';
import type { ConvertArguments } from '../options/convert.js';

export const run = (args: ConvertArguments, console: Console): Promise<ExitCode> =>
  runCopy([args.in], args.out, args, console);
