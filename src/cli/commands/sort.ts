import type { FileReport } from '../../io/file-sort/file-job.js';
import { nameFacts } from '../../io/formats/file-name.js';
import { isReadable } from '../../io/formats/format.js';
import { formatNamed } from '../../io/formats/keys.js';
import { lines } from '../../io/formats/lines.js';
import { areLines } from '../../io/lines/recognise.js';
import { isStdout } from '../../io/streams/raw.js';
import { UsageError } from '../../util/errors.js';
import { MAX_THREADS } from '../../util/threads.js';
import { assertWholeNumber } from '../../util/whole-number.js';
import { type Console, print, say } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { cannotCombine, missingEngine } from '../option-errors.js';
import { schedulerOption } from '../options/engine.js';
import type { SortArguments } from '../options/sort.js';
import { runWithSorter, showFileWork } from '../run-with-sorter.js';
import { readSortJobs } from '../sort-jobs.js';
import { reportJson, reportText, verifiedText } from '../sort-report.js';

export async function run(given: SortArguments, console: Console): Promise<ExitCode> {
  const args = given.in.length === 0 ? { ...given, in: ['-'] } : given;
  if (args.parallel !== undefined) limitThreads(args.parallel);
  if (await sortsLines(args, console)) return (await import('../sort-lines.js')).runLines(args, console);
  if (args.engine !== undefined)
    return (await import('../distributed-sort.js')).sortDistributed(args, console);
  assertNoCluster(args);
  const jobs = await readSortJobs(args);
  if (args.values === undefined) await assertNoTerminal(args, console);
  const shown = showFileWork(console);
  const reports: FileReport[] = [];
  const done = (report: FileReport, out: string): void => {
    shown.bar.clear();
    reports.push(report);
    if (!args.json) printReport(report, out, args, console);
  };
  let failure: unknown;
  if (jobs.length > 1) {
    const { sortEach } = await import('../sort-each.js');
    failure = await sortEach(jobs, args, { shown, done }, console);
  } else {
    await runWithSorter(
      args,
      console,
      async (sorter, context) => {
        for (const { run, out } of jobs) done(await run(sorter, context), out);
      },
      shown,
    );
  }
  if (args.json) printJson(reports, shown.warnings, args, console);
  if (failure) throw failure;
  return EXIT.ok;
}

/**
 * Limits the threads of the host engine.
 *
 * @throws UsageError when the number is not whole and positive
 */
function limitThreads(threads: number): void {
  assertWholeNumber('--parallel', threads);
  process.env.CLSORT_THREADS = String(Math.min(threads, MAX_THREADS));
}

/** Options that only lines have. */
const LINE_OPTIONS = [
  ...['numeric-sort', 'general-numeric-sort', 'version-sort', 'random-sort', 'ignore-case'],
  ...[
    'dictionary-order',
    'ignore-leading-blanks',
    'stable',
    'zero-terminated',
    'check',
    'check-quiet',
    'merge',
  ],
] as const;

/** Options that lines do not have. */
const OTHER_OPTIONS = [
  'dtype',
  'by',
  'column',
  'record',
  'key',
  'values',
  'out-dir',
  'to',
  'engine',
  'bits',
  'argsort',
  'counts',
  'verify',
  'report',
  'json',
] as const;

/** Returns whether the command line or the files are about lines of text. */
async function sortsLines(args: SortArguments, { stdin }: Console): Promise<boolean> {
  const isGiven = (name: keyof SortArguments) => args[name] !== undefined && args[name] !== false;
  const other = OTHER_OPTIONS.find(isGiven);
  const ofLines = [...LINE_OPTIONS, 'line-key' as const].find(isGiven);
  if (ofLines !== undefined && other !== undefined)
    throw cannotCombine(`--${other}`, `--${ofLines}`, 'the latter is for lines of text');
  if (ofLines !== undefined || (args.format === lines.id && other === undefined)) return true;
  if (args.format !== 'auto' || other !== undefined) return false;
  const { format } = await nameFacts(args.out ?? '-');
  if (format && isReadable(format) && !format.isText) return false;
  return areLines(args.in, stdin);
}

/**
 * Asserts that no binary keys go to a terminal.
 *
 * @throws UsageError when they would
 */
async function assertNoTerminal(args: SortArguments, { stdout }: Console): Promise<void> {
  if (args['out-dir'] !== undefined || !isStdout(args.out ?? '-') || !stdout.isTTY) return;
  const format = formatNamed(args.to ?? args.format) ?? (await nameFacts(args.in[0] ?? '-')).format;
  if (format && isReadable(format) && format.isText) return;
  throw new UsageError(
    'cannot write binary keys to stdout: it is a terminal. Pass -o FILE, a pipe, or --to csv for text',
  );
}

/**
 * Rejects options of distributed sorts without `--engine`.
 *
 * @throws UsageError when such an option was given
 */
function assertNoCluster(args: SortArguments): void {
  const option =
    (['partitions', 'shards'] as const).find((name) => args[name] !== undefined) ?? schedulerOption(args);
  if (option !== undefined) throw missingEngine(`--${option}`, 'bullmq');
}

function printReport(
  report: FileReport,
  out: string,
  { report: wanted, 'out-dir': folder, out: named }: SortArguments,
  console: Console,
): void {
  const isNamed = named !== undefined || folder !== undefined; // like other tools, nothing is added to implied stdout
  const [write, { isTTY }] = isStdout(out) ? [say, console.stderr] : [print, console.stdout];
  const text =
    wanted || (isTTY && !console.quiet && isNamed)
      ? reportText(report)
      : report.verified && verifiedText(report.verified);
  if (text === undefined) return;
  if (folder !== undefined) write(console, `${out}:`);
  write(console, text);
}

/** Prints one JSON object, or a JSON array with `--out-dir`. */
function printJson(
  reports: readonly FileReport[],
  warnings: readonly string[],
  { out = '-', 'out-dir': folder }: SortArguments,
  console: Console,
): void {
  const all = reports.map((report) => reportJson(report, warnings));
  const write = folder === undefined && isStdout(out) ? say : print;
  write(console, folder === undefined ? (all[0] ?? '') : `[${all.join(',\n')}]`);
}
