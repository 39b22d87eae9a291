import type { Job } from '../../batch/jobs.js';
import { deviceSpecs } from '../../device/platform/select-device.js';
import type { FileReport, LargeFileJob } from '../../io/file-sort/file-job.js';
import { sortFile } from '../../io/file-sort/sort-file.js';
import { maxKeyCount } from '../../io/formats/keys.js';
import { textOptionsOf } from '../../io/formats/text/text-options.js';
import { isStdout } from '../../io/streams/raw.js';
import type { TableOptions } from '../../io/tables/table-options.js';
import type { Sorter } from '../../sort/api/sorter.js';
import type { Progress } from '../../sort/model/options.js';
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

export async function run(args: SortArguments, console: Console): Promise<ExitCode> {
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
  { report: wanted, 'out-dir': folder }: SortArguments,
  console: Console,
): void {
  const [write, { isTTY }] = isStdout(out) ? [say, console.stderr] : [print, console.stdout];
  const text =
    wanted || (isTTY && !console.quiet)
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
  { out = '', 'out-dir': folder }: SortArguments,
  console: Console,
): void {
  const all = reports.map((report) => reportJson(report, warnings));
  const write = isStdout(out) ? say : print;
  write(console, folder === undefined ? (all[0] ?? '') : `[${all.join(',\n')}]`);
}
