import { mergeFiles } from '../../io/merge/merge-files.js';
import { readOrder } from '../arguments.js';
import type { Console } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { readInput, readTo } from '../key-files.js';
import { readBudget } from '../memory-options.js';
import type { MergeArguments } from '../options/merge.js';
import { readRecords } from '../record-options.js';
import { printResult, runWithSorter } from '../run-with-sorter.js';
import { grouped } from '../table.js';

export async function run(args: MergeArguments, console: Console): Promise<ExitCode> {
  const records = readRecords(args);
  const { unique, counts, in: inputs, out } = args;
  const keys = { ...readInput(args), ...readOrder(args), to: readTo(args) };
  const job = { ...keys, in: inputs, out, unique, counts, records, memory: readBudget(args) };
  const {
    n,
    written,
    recordCount: recordsText,
    formats,
  } = await runWithSorter(args, console, (sorter, context) => mergeFiles(sorter, job, context));
  const [from, to] = formats;
  printResult(args, console, {
    json: {
      schema: 'clsort.merge/1',
      files: inputs.length,
      n,
      written,
      dtype: records ? null : recordsText.split(' ')[0],
      formats: { from, to },
    },
    text:
      `${grouped(written)} ${unique ? 'distinct ' : ''}${recordsText}, merged from ${grouped(inputs.length)} files` +
      (unique ? ` with ${grouped(n)}` : ''),
  });
  return EXIT.ok;
}
