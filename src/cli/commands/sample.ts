import { sampleFile } from '../../io/tables/sample.js';
import { readCount, readFraction } from '../arguments.js';
import type { Console } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { cannotCombine, missingOption } from '../option-errors.js';
import type { SampleArguments } from '../options/sample.js';
import { readRows, rowFacts } from '../row-options.js';
import { printResult, runWithSorter } from '../run-with-sorter.js';
import { grouped } from '../table.js';

export async function run(args: SampleArguments, console: Console): Promise<ExitCode> {
  const size = readSize(args);
  const job = { ...(await readRows(args, console)), ...size };
  const report = await runWithSorter(args, console, (sorter, context) => sampleFile(sorter, job, context));
  const { n, written, noun } = report;
  printResult(args, console, {
    json: { schema: 'clsort.sample/1', n, written, ...rowFacts(report, job.seed) },
    text: `${grouped(written)} of ${grouped(n)} ${noun}, seed ${job.seed}`,
  });
  return EXIT.ok;
}

/**
 * Reads the size of the sample.
 *
 * @throws UsageError when not exactly one of `-n` and `--fraction` is given, or it is invalid
 */
function readSize({ n, fraction }: SampleArguments) {
  if (n !== undefined && fraction !== undefined) {
    throw cannotCombine('-n', '--fraction', 'each of them defines the size of the sample');
  }
  if (n !== undefined) return { count: readCount(n, '-n') };
  if (fraction !== undefined) return { fraction: readFraction(fraction, '--fraction') };
  throw missingOption('sample', '-n', 'Pass -n N or --fraction F');
}
