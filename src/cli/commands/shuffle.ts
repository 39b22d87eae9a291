import { shuffleFile } from '../../io/tables/shuffle.js';
import type { Console } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import type { ShuffleArguments } from '../options/shuffle.js';
import { readRows, rowFacts } from '../row-options.js';
import { printResult, runWithSorter } from '../run-with-sorter.js';
import { grouped } from '../table.js';

export async function run(args: ShuffleArguments, console: Console): Promise<ExitCode> {
  const job = await readRows(args, console);
  const report = await runWithSorter(args, console, (sorter, context) => shuffleFile(sorter, job, context));
  const { n, noun, runs = 0, spilledBytes = 0 } = report;
  printResult(args, console, {
    json: { schema: 'clsort.shuffle/1', n, ...rowFacts(report, job.seed), runs, spilledBytes },
    text: `${grouped(n)} ${noun} in random order, seed ${job.seed}`,
  });
  return EXIT.ok;
}
