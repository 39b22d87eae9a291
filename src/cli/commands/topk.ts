import { topKFile } from '../../io/operations/top-k-file.js';
import { readCount, readOrder } from '../arguments.js';
import type { Console } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { readInput, readTo } from '../key-files.js';
import { readBudget } from '../memory-options.js';
import type { TopKArguments } from '../options/topk.js';
import { printResult, runWithSorter } from '../run-with-sorter.js';
import { grouped } from '../table.js';

export async function run(args: TopKArguments, console: Console): Promise<ExitCode> {
  const { smallest, argsort, in: inputs, out, dtype, verify } = args;
  const order = readOrder({ ...args, dtype, descending: !smallest });
  const { nan, bits } = order;
  const keys = { ...readInput(args), nan, ...(bits && { bits }), to: readTo(args) };
  const k = readCount(args.k, '-k');
  const job = { ...keys, in: inputs, out, k, largest: !smallest, argsort, verify, memory: readBudget(args) };
  const report = await runWithSorter(args, console, (sorter, context) => topKFile(sorter, job, context));
  const { n, written, formats } = report;
  const [from, to] = formats;
  const which = smallest ? 'smallest' : 'largest';
  printResult(args, console, {
    json: {
      ...{ schema: 'clsort.topk/1', n, written, dtype: report.dtype, largest: !smallest, argsort },
      formats: { from, to },
    },
    text: `${argsort ? 'positions of ' : ''}the ${which} ${grouped(written)} of ${grouped(n)} ${report.dtype} keys`,
  });
  return EXIT.ok;
}
