import { type FileStats, statsOfFiles } from '../../io/operations/stats.js';
import { listed, readFraction } from '../arguments.js';
import { type Console, print } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { readInput } from '../key-files.js';
import { readSpill } from '../memory-options.js';
import type { StatsArguments } from '../options/stats.js';
import { orderOf, textOf } from '../profile-text.js';
import { runWithSorter } from '../run-with-sorter.js';
import { grouped, table } from '../table.js';

export async function run(args: StatsArguments, console: Console): Promise<ExitCode> {
  const names = listed(args.quantiles);
  const quantiles = names.map((name) => readFraction(name, '--quantiles'));
  const job = { ...readInput(args), ...readSpill(args), in: args.in, quantiles };
  const stats = await runWithSorter(args, console, (sorter, context) => statsOfFiles(sorter, job, context));
  print(console, args.json ? JSON.stringify(jsonOf(stats, names)) : textTable(stats, names));
  return EXIT.ok;
}

function jsonOf(stats: FileStats, names: readonly string[]): object {
  const { name, format, dtype, n, nans, minimum, maximum, sum, mean, quantiles, distinct, disorder } = stats;
  return {
    ...{ schema: 'clsort.stats/1', file: name, format, dtype, n, nans },
    ...{ minimum: textOf(minimum), maximum: textOf(maximum), sum: textOf(sum), mean: textOf(mean) },
    quantiles: names.map((q, i) => ({ q, value: textOf(quantiles[i]) })),
    distinct,
    sorted: orderOf(stats),
    disorder: disorder
      ? { at: disorder.at, before: textOf(disorder.before), key: textOf(disorder.key) }
      : null,
    external: stats.external ?? null,
  };
}

function textTable(stats: FileStats, names: readonly string[]): string {
  const { name, dtype, n, nans, minimum, maximum, sum, mean, quantiles, distinct, disorder } = stats;
  const rows = [
    ['dtype', dtype],
    ['count', grouped(n)],
    ...(nans > 0 ? [['NaNs', grouped(nans)]] : []),
    ['minimum', textOf(minimum) ?? 'none'],
    ['maximum', textOf(maximum) ?? 'none'],
    ['sum', textOf(sum) ?? 'none'],
    ['mean', textOf(mean) ?? 'none'],
    ...names.map((q, i) => [`quantile ${q}`, textOf(quantiles[i]) ?? 'none']),
    ['distinct', grouped(distinct)],
    [
      'sorted',
      orderOf(stats) ??
        `no: ${textOf(disorder?.key)} at position ${disorder?.at} after ${textOf(disorder?.before)}`,
    ],
  ];
  return `${name}\n${table(rows)}`;
}
