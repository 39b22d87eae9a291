/** `clsort sort --values`: sorts pairs. */

import { sortPairsFile } from '../io/file-sort/sort-pairs-file.js';
import { isStdout } from '../io/streams/raw.js';
import { readOrder } from './arguments.js';
import type { Console } from './console.js';
import { print, say } from './console.js';
import { EXIT, type ExitCode } from './exit-code.js';
import { readInput, readTo } from './key-files.js';
import { cannotCombine, missingOption } from './option-errors.js';
import type { SortArguments } from './options/sort.js';
import { runWithSorter } from './run-with-sorter.js';
import { reportJson, reportText, verifiedText } from './sort-report.js';

/** Options that do not combine with values, with the reason. */
const APART = {
  argsort: 'the positions would replace the values',
  unique: 'each of equal keys has its own value',
  counts: 'each of equal keys has its own value',
  'out-dir': 'the values belong to one sort',
  record: 'a record contains its values',
  by: 'a row contains its values',
  resume: 'pairs are sorted in memory',
} as const;

export async function sortPairs(args: SortArguments, console: Console): Promise<ExitCode> {
  const { values, 'values-out': valuesOut, out, verify, algorithm, 'radix-bits': radixBits } = args;
  if (values === undefined || valuesOut === undefined) {
    const missing = values === undefined ? '--values' : '--values-out';
    throw missingOption('sort pairs', missing, 'Pass both --values and --values-out');
  }
  for (const [name, why] of Object.entries(APART)) {
    const optionUse = args[name as keyof typeof APART];
    if (optionUse !== undefined && optionUse !== false) throw cannotCombine(`--${name}`, '--values', why);
  }
  if (out === undefined) throw missingOption('sort', '--out', 'Pass a file, as in -o sorted.u32');
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
