import type { Console } from '../console.js';
import { runCopy } from '../copy-files.js';
import type { ExitCode } from '../exit-code.js';
import type { ConcatArguments } from '../options/concat.js';

export const run = (args: ConcatArguments, console: Console): Promise<ExitCode> =>
  runCopy(args.in, args.out, args, console);
