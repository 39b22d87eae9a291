import type { Job } from '../../batch/jobs.js';
import { deviceSpecs } from '../../device/platform/select-device.js';
import type { FileReport, LargeFileJob } from '../../io/file-sort/file-job.js';
import { sortFile } from '../../io/file-sort/sort-file.js';
import { nameFacts } from '../../io/formats/file-name.js';
import { formatNamed, maxKeyCount } from '../../io/formats/keys.js';
import { textOptionsOf } from '../../io/formats/text/text-options.js';
import { isLineFile, startsWithLines } from '../../io/lines/recognise.js';
import { isStdin, isStdout } from '../../io/streams/raw.js';
import type { TableOptions } from '../../io/tables/table-options.js';
import type { Sorter } from '../../sort/api/sorter.js';
import type { Progress } from '../../sort/model/options.js';
import { UsageError } from '../../util/errors.js';
import { readOrder } from '../arguments.js';
import { type Console, print, say } from '../console.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { readInput, readTo } from '../key-files.js';
import { readMemory, restart } from '../memory-options.js';
import { cannotCombine, cannotUseWithout, missingEngine } from '../option-errors.js';
import { schedulerOption } from '../options/engine.js';
import type { SortArguments } from '../options/sort.js';
import { ProgressBar } from '../progress-bar.js';
import { onlyInput, readRecords } from '../record-options.js';
import { type SortPath, sortFiles } from '../sort-paths.js';
import { reportJson, reportText, verifiedText } from '../sort-report.js';
import { sorterFor } from '../sorter-for.js';

export async function run(given: SortArguments, console: Console): Promise<ExitCode> {
  const args = given.in.length === 0 ? { ...given, in: ['-'] } : given;
  if (await sortsLines(args, console)) return (await import('../sort-lines.js')).runLines(args, console);
  if (args.engine !== undefined)
    return (await import('../distributed-sort.js')).sortDistributed(args, console);
  assertNoCluster(args);
  if (args.values !== undefined || args['values-out'] !== undefined) {
    return (await import('../sort-pairs.js')).sortPairs(args, console);
  }
  const { argsort, algorithm, verify, axis, unique, counts, 'radix-bits': radixBits } = args;
  if (counts !== undefined && args['out-dir'] !== undefined) {
    throw cannotCombine('--counts', '--out-dir', '--counts names the file of one sort');
  }
  const table = await readTableOptions(args);
  const records = table ? undefined : readRecords(args);
  const memory = readMemory(args);
  const keys = { ...readInput(args), ...readOrder(args), to: readTo(args), axis };
  await assertNoTerminal(args, console);
  const files = await sortFiles(args, { argsort, to: args.to ?? 'auto' });
  if (algorithm !== 'auto' && algorithm !== 'host') {
    const { algorithmNamed } = await import('../../algorithms/registry.js'); // small sorts do not load it
    algorithmNamed(algorithm);
  }
  const bar = new ProgressBar(console);
  const warnings: string[] = [];
  const onWarning = ({ message }: Pick<Error, 'message'>): void => {
    bar.clear();
    warnings.push(message);
    say(console, `clsort: warning: ${message}`);
  };
  const scan = args.scan === 'auto' ? 'auto' : args.scan === '3' ? 3 : 5;
  const how = {
    argsort,
    unique,
    counts,
    algorithm,
    scan,
    ...(radixBits !== undefined && { radixBits }),
    verify,
  } as const;
  const onProgress = ({ phase, done, total }: Progress) => bar.update(phase, done, total);
  const onNote = (text: string): void => {
    bar.clear();
    if (!console.quiet) say(console, `clsort: ${text}`);
  };
  const context = { ...console, onWarning, onNote, onProgress };
  const sortOne = async (sorter: Sorter, file: SortPath): Promise<FileReport> => {
    await restart(args, file.out);
    if (table) {
      const { sortTableFile } = await import('../../io/tables/sort-table-file.js');
      return sortTableFile(sorter, { ...table, ...tableJob(file), ...memory }, context);
    }
    if (!records) {
      const job = { ...keyJob(file), ...memory };
      return sortFile(sorter, job, context, (await isSmall(job)) ? undefined : await loadParts());
    }
    const { sortRecordFile } = await import('../../io/file-sort/sort-record-file.js');
    return sortRecordFile(sorter, { ...records, ...recordJob(file), ...memory }, context);
  };
  const reports: FileReport[] = [];
  const done = (report: FileReport, file: Pick<SortPath, 'out'>): void => {
    bar.clear();
    reports.push(report);
    if (!args.json) printReports(report, file, args, console);
  };
  const { nan, to } = keys;
  const text = { format: args.format, ...textOptionsOf(keys) };
  const tableJob = (file: SortPath) => ({ ...table, ...how, nan, to, ...text, ...file });
  const recordJob = (file: SortPath) => ({
    ...{ ...records, ...how, format: args.format, ...file },
    in: onlyInput(file.in),
  });
  const keyJob = (file: SortPath) => ({ ...keys, ...how, ...file });
  let failure: unknown;
  try {
    if (files.length > 1 && !(await isBelowDeviceLimit(args))) {
      const [{ sortEach }, { readDeviceList }] = await Promise.all([
        import('../sort-each.js'),
        import('../device-arguments.js'),
      ]);
      const jobs = files.map((file) => {
        const job = table ? tableJob(file) : records ? recordJob(file) : keyJob(file);
        return asJob({ ...job, tmp: memory.tmp, name: [file.in].flat().join(', ') });
      });
      const each = {
        devices: readDeviceList(args.device ?? ['auto']),
        memory: memory.memory,
        bar,
        onWarning,
        onDone: done,
      };
      failure = await sortEach(jobs, each, console);
    } else {
      const sorter = await sorterFor(args, onWarning, console);
      try {
        for (const file of files) done(await sortOne(sorter, file), file);
      } finally {
        await sorter.close();
      }
    }
  } finally {
    bar.clear();
  }
  if (args.json) printJson(reports, warnings, args, console);
  if (failure) throw failure;
  return EXIT.ok;
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
  if (ofLines !== undefined || args.format === 'lines') return true;
  if (args.format !== 'auto' || other !== undefined) return false;
  for (const path of args.in) {
    const isText = isStdin(path) ? await startsWithLines(stdin) : isLineFile(path);
    if (!isText) return false;
  }
  return true;
}

/**
 * Asserts that no binary keys go to a terminal.
 *
 * @throws UsageError when they would
 */
async function assertNoTerminal(args: SortArguments, { stdout }: Console): Promise<void> {
  if (args['out-dir'] !== undefined || !isStdout(args.out ?? '-') || !stdout.isTTY) return;
  const format = formatNamed(args.to ?? args.format) ?? (await nameFacts(args.in[0] ?? '-')).format;
  if (format?.extensions.some((extension) => TEXT_EXTENSIONS.includes(extension))) return;
  throw new UsageError(
    'cannot write binary keys to stdout: it is a terminal. Pass -o FILE, a pipe, or --to csv for text',
  );
}
const TEXT_EXTENSIONS = ['csv', 'tsv', 'ndjson'];

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

/**
 * Reads the options of tables; undefined when no table is sorted.
 *
 * @throws UsageError when a table option is given without `--by`
 */
async function readTableOptions(args: SortArguments): Promise<TableOptions | undefined> {
  const { by, columns, head, 'unique-by': uniqueBy, type } = args;
  if (by !== undefined) return (await import('../table-options.js')).readTable(args);
  const option = Object.entries({ columns, head, 'unique-by': uniqueBy, type });
  const [name] = option.find(([, value]) => value !== undefined) ?? [];
  if (name === undefined) return undefined;
  const advice = 'Pass the columns to sort by, as in --by price:desc';
  throw cannotUseWithout(`--${name}`, '--by', 'it applies to tables', advice);
}

/** Inputs up to this size fit any memory, so the partitioned sort need not be loaded. */
const SMALL_BYTES = 2 ** 20;

async function isSmall({ in: inputs, resume }: LargeFileJob): Promise<boolean> {
  const bytes = await maxKeyCount(typeof inputs === 'string' ? [inputs] : inputs, 1);
  return !resume && bytes !== undefined && bytes <= SMALL_BYTES;
}

/** Returns whether the inputs are so small that the host sorts them before a process for a device has started. */
async function isBelowDeviceLimit({ in: inputs, device }: SortArguments): Promise<boolean> {
  const [spec, ...others] = deviceSpecs(device ?? ['auto']);
  if (others.length > 0 || (spec !== 'auto' && spec !== 'host')) return false;
  const bytes = await maxKeyCount(inputs, 1);
  return bytes !== undefined && bytes <= SMALL_BYTES;
}

/** Creates a batch job without its undefined fields. */
const asJob = (options: object): Job =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as unknown as Job;

const loadParts = async () => (await import('../../io/file-sort/partitioned-sort.js')).partitionedSort;

function printReports(
  report: FileReport,
  { out }: Pick<SortPath, 'out'>,
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
