/** `clsort sort --values`: sorts pairs. */

import { isStdout } from '../io/raw.js';
import { sortPairsFile } from '../io/sort-pairs-file.js';
import { UsageError } from '../util/errors.js';
import { readOrder } from './arguments.js';
import type { Console } from './console.js';
import { print, say } from './console.js';
import { EXIT, type ExitCode } from './exit-code.js';
import { readInput, readTo } from './key-files.js';
import type { SortArguments } from './options/sort.js';
import { runWithSorter } from './run-with-sorter.js';
import { reportJson, reportText, verifiedText } from './sort-report.js';

/** Options that do not combine with values, with the reason. */
const APART = {
  argsort: 'positions are values already',
  unique: 'of equal keys each has a value of its own',
  counts: 'of equal keys each has a value of its own',
  'out-dir': 'the values are those of one sort',
  record: 'a record has its values in it',
  by: 'a row has its values in it',
  resume: 'pairs are sorted in memory',
} as const;

export async function sortPairs(args: SortArguments, console: Console): Promise<ExitCode> {
  const { values, 'values-out': valuesOut, out, verify, algorithm, 'radix-bits': radixBits } = args;
  if (values === undefined || valuesOut === undefined) {
    const [optionUse, missing] = values === undefined ? ['values-out', 'values'] : ['values', 'values-out'];
    throw new UsageError(`--${optionUse} is given and --${missing} is not: a sort of pairs needs both files`);
  }
  for (const [name, why] of Object.entries(APART)) {
    const optionUse = args[name as keyof typeof APART];
    if (optionUse !== undefined && optionUse !== false)
      throw new UsageError(`--${name} does not go with --values: ${why}`);
  }
  if (out === undefined) throw new UsageError('where is the result to go? Say so: -o FILE');
  const scan: 'auto' | 3 | 5 = args.scan === 'auto' ? 'auto' : args.scan === '3' ? 3 : 5;
  const job = {
    ...{ ...readInput(args), ...readOrder(args), to: readTo(args), in: args.in, out, values, valuesOut },
    ...{ algorithm, scan, verify, ...(radixBits !== undefined && { radixBits }) },
  };
  const warnings: string[] = [];
  const report = await runWithSorter(args, console, (sorter, context) => {
    const onWarning: NonNullable<typeof context.onWarning> = (warning) => {
      warnings.push(warning.message);
      context.onWarning?.(warning);
    };
    return sortPairsFile(sorter, job, { ...context, onWarning });
  });
  const [write, { isTTY }] = isStdout(out) ? [say, console.stderr] : [print, console.stdout];
  const text = args.json
    ? reportJson(report, warnings)
    : args.report || (isTTY && !console.quiet)
      ? reportText(report)
      : report.verified && verifiedText(report.verified);
  if (text) write(console, text);
  return EXIT.ok;
}
