import { joinTables } from '../../io/tables/join-tables.js';
import type { Console } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { readInput, readTo } from '../key-files.js';
import { readBudget } from '../memory-options.js';
import type { JoinArguments } from '../options/join.js';
import { printResult, runWithSorter } from '../run-with-sorter.js';
import { grouped } from '../table.js';

export async function run(args: JoinArguments, console: Console): Promise<ExitCode> {
  const { left, right, out, on, kind, suffix, verify } = args;
  const { column: _, dtype: __, ...input } = readInput({ ...args, column: undefined });
  const paths = { in: [left, right], out } as const;
  const job = { ...input, ...paths, to: readTo(args), on, kind, suffix, verify, memory: readBudget(args) };
  const report = await runWithSorter({ ...args, in: job.in }, console, (sorter, context) =>
    joinTables(sorter, job, context),
  );
  const { n, written, formats } = report;
  const [a, b, to] = formats;
  printResult(args, console, {
    json: { schema: 'clsort.join/1', n, written, kind, formats: { from: [a, b], to } },
    text: `${grouped(written)} rows, of ${n.map(grouped).join(' and ')}`,
  });
  return EXIT.ok;
}
