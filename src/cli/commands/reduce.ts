import { reduceFiles } from '../../io/operations/primitive-files.js';
import type { ReduceOp } from '../../primitives/possible.js';
import { type Console, print } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { readInput } from '../key-files.js';
import { numberText } from '../number-text.js';
import type { ReduceArguments } from '../options/reduce.js';
import { runWithSorter } from '../run-with-sorter.js';

export async function run(args: ReduceArguments, console: Console): Promise<ExitCode> {
  const op = args.op as ReduceOp;
  const job = { ...readInput(args), in: args.in, op };
  const { n, dtype, result } = await runWithSorter(args, console, (sorter, context) =>
    reduceFiles(sorter, job, context),
  );
  const text = numberText(result);
  print(
    console,
    args.json ? JSON.stringify({ schema: 'clsort.reduce/1', n, dtype, op, result: text }) : text,
  );
  return EXIT.ok;
}
