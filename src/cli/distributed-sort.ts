/** `clsort sort --engine`: a sort over several machines. */
import type { AlgorithmOption } from '../algorithms/algorithm-names.js';
import { deviceSpecs } from '../device/platform/select-device.js';
import { BullmqJobRunner } from '../engines/bullmq-job-runner.js';
import { sortChain } from '../engines/chain.js';
import { runSort } from '../engines/coordinator.js';
import type { JobRunner } from '../engines/job-runner.js';
import { LocalJobRunner } from '../engines/local-job-runner.js';
import type { SortRequest } from '../engines/make-job.js';
import { type OpenJob, openSortJob } from '../engines/open-job.js';
import { REPORT_SCHEMA, type RunReport, runReport } from '../engines/run-report.js';
import { RunTimes } from '../engines/run-times.js';
import { assertNotPending } from '../engines/slurm.js';
import type { PartsReport } from '../engines/verify-part.js';
import type { WorkerContext } from '../engines/worker-context.js';
import { Sorter } from '../sort/api/sorter.js';
import { UsageError } from '../util/errors.js';
import { readOrder } from './arguments.js';
import { type Console, print } from './console.js';
import { EXIT, type ExitCode } from './exit-code.js';
import { readInput, readTo } from './key-files.js';
import { readBudget } from './memory-options.js';
import { cannotCombine, missingOption, optionOfWorkers } from './option-errors.js';
import type { SortArguments } from './options/sort.js';
import { readRecords } from './record-options.js';
import { expectRedis } from './redis-arguments.js';
import { assertScheduler, handOver, SCHEDULERS } from './scheduler.js';
import { bytesText, grouped, secondsText } from './table.js';
import { TaskView } from './task-view.js';

/**
 * Rejects options that only a sort on one machine supports.
 *
 * @throws UsageError when such an option was given
 */
function assertDistributable(args: SortArguments): void {
  const { engine = '' } = args;
  const not: Readonly<Record<string, boolean>> = {
    by: args.by !== undefined,
    columns: args.columns !== undefined,
    head: args.head !== undefined,
    'unique-by': args['unique-by'] !== undefined,
    unique: args.unique,
    counts: args.counts !== undefined,
    argsort: args.argsort,
    axis: args.axis !== -1,
    'out-dir': args['out-dir'] !== undefined,
  };
  const option = Object.keys(not).find((name) => not[name]);
  if (option !== undefined) {
    throw cannotCombine(`--${option}`, '--engine', 'only sorts of keys or records run on many machines');
  }
  const ofWorkers: Readonly<Record<string, boolean>> = {
    device: args.device !== undefined,
    memory: args.memory !== undefined,
    tmp: args.tmp !== undefined,
  };
  const workerOption = Object.keys(ofWorkers).find((name) => ofWorkers[name]);
  if (engine === 'bullmq' && workerOption !== undefined) throw optionOfWorkers(`--${workerOption}`);
  assertScheduler(args);
}

function requestOf(args: SortArguments): SortRequest {
  const { in: inputs, out, partitions, shards, algorithm, format, 'radix-bits': radixBits } = args;
  if (out === undefined) throw missingOption('sort', '--out', 'Pass a folder for the parts, as in -o sorted');
  if (out === '-')
    throw new UsageError(
      'cannot write to stdout: the result is a folder of parts. Pass a folder, as in -o sorted',
    );
  const records = readRecords(args);
  const scan = args.scan === 'auto' ? undefined : args.scan === '3' ? (3 as const) : (5 as const);
  const how = {
    ...(algorithm !== 'auto' && { algorithm: algorithm as AlgorithmOption }),
    ...(scan !== undefined && { scan }),
    ...(radixBits !== undefined && { radixBits }),
  };
  const common = { inputs, out, partitions, shards, how };
  if (records) return { ...common, records: { ...records, format } };
  const { bits, descending, nan } = readOrder(args);
  const keys = { ...readInput(args), descending, nan, to: readTo(args), ...(bits && { bits }) };
  return { ...common, keys };
}

export async function sortDistributed(args: SortArguments, console: Console): Promise<ExitCode> {
  assertDistributable(args);
  const url = args.engine === 'bullmq' ? expectRedis(args) : undefined;
  const request = requestOf(args);
  const { signal } = console;
  const started = performance.now();
  const open = await openSortJob(request, { workersFolder: args['workers-folder'], signal });
  try {
    if (SCHEDULERS.includes(args.engine ?? '')) return await submitToScheduler(open, args, console);
    return await runWithView(open, { url, started }, args, console);
  } finally {
    await open.release();
  }
}

async function runWithView(
  open: OpenJob,
  { url, started }: { readonly url: URL | undefined; readonly started: number },
  args: SortArguments,
  console: Console,
): Promise<ExitCode> {
  const { job, folder, shared, isOld, bytes } = open;
  const { signal } = console;
  const view = new TaskView(console);
  const note = (text: string): void => {
    if (!console.quiet) view.say(text);
  };
  note(
    `job ${folder.id}: ${bytesText(bytes)}, ${job.shards.length} shards, ${job.partitions} partitions` +
      `${isOld ? ', resumed' : ''}; up to ${bytesText(bytes)} of temporary files in ${folder.path}`,
  );
  let sorter: Promise<Sorter> | undefined;
  const onWarning = ({ message }: Error): void => view.say(`warning: ${message}`);
  const context: WorkerContext = {
    shared,
    sorter: () => {
      sorter ??= Sorter.open({ devices: deviceSpecs(args.device ?? ['auto']), onWarning });
      return sorter;
    },
    memory: readBudget(args),
    tmp: args.tmp,
    signal,
    onWarning,
  };
  const noteSavedWork = (): void =>
    note(`completed tasks are kept in ${folder.path}; repeat the command to resume`);
  signal.addEventListener('abort', noteSavedWork, { once: true });
  try {
    const runner: JobRunner = url
      ? await BullmqJobRunner.open({
          ...{ url, queue: args.queue, id: folder.id, out: job.out },
          onWarning: (message) => view.say(`warning: ${message}`),
        })
      : new LocalJobRunner(context);
    const times = new RunTimes(started);
    const report = await runSort({ job, folder, context }, runner, (event) => {
      times.handle(event);
      view.handle(event);
    });
    view.clear();
    const run = runReport(job, report, { engine: runner.name, ...times.facts });
    printReport(report, { id: folder.id, seconds: run.seconds, run }, args, console);
    return EXIT.ok;
  } catch (error) {
    if (!signal.aborted && (await folder.readJob().catch(() => undefined))) noteSavedWork();
    throw error;
  } finally {
    signal.removeEventListener('abort', noteSavedWork);
    view.clear();
    await (await sorter?.catch(() => undefined))?.close();
  }
}

function printReport(
  report: PartsReport,
  more: { readonly id: string; readonly seconds: number; readonly run: RunReport },
  { json }: SortArguments,
  console: Console,
): void {
  if (json) {
    print(console, JSON.stringify({ schema: REPORT_SCHEMA, ...report, ...more }));
  } else if (!console.quiet) {
    const { out, n, units, bytes, parts } = report;
    const time = secondsText(more.seconds);
    print(
      console,
      `${out}: ${grouped(n)} ${units}, ${bytesText(bytes)}, in ${grouped(parts)} parts, verified; ${time}`,
    );
  }
}

async function submitToScheduler(open: OpenJob, args: SortArguments, console: Console): Promise<ExitCode> {
  const { job, folder } = open;
  if (args.submit) await assertNotPending(folder);
  await handOver(await sortChain(job, folder), open, args, console);
  return EXIT.ok;
}
