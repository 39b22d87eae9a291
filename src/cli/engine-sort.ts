/** `clsort sort --engine`: a sort over many machines. */
import { fileURLToPath } from 'node:url';
import { deviceSpecs } from '../device/select.js';
import { BullEngine } from '../engines/bullmq.js';
import { runSort } from '../engines/coordinator.js';
import type { Engine } from '../engines/engine.js';
import type { RunReport } from '../engines/forecast/fit.js';
import { REPORT_SCHEMA, runReport } from '../engines/forecast/report.js';
import { kubernetesManifest } from '../engines/kubernetes.js';
import { LocalEngine } from '../engines/local.js';
import type { SortRequest } from '../engines/make-job.js';
import { type OpenJob, openSortJob } from '../engines/open-job.js';
import { RunTimes } from '../engines/run-times.js';
import { assertNotPending, slurmScript, submit } from '../engines/slurm.js';
import type { PartsReport } from '../engines/verify-part.js';
import type { WorkerContext } from '../engines/worker-context.js';
import { Sorter } from '../sort/api/sorter.js';
import { UsageError } from '../util/errors.js';
import { readOrder } from './arguments.js';
import { type Console, print } from './console.js';
import { expectRedis } from './engine-arguments.js';
import { EXIT, type ExitCode } from './exit-code.js';
import { readInput, readTo } from './key-files.js';
import { readBudget } from './memory-options.js';
import type { SortArguments } from './options/sort.js';
import { readRecords } from './record-options.js';
import { bytesText, grouped, secondsText } from './table.js';
import { TaskView } from './task-view.js';

/** What only a sort on one machine can do. */
function assertPossible(args: SortArguments): void {
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
  const said = Object.keys(not).find((name) => not[name]);
  if (said !== undefined) {
    throw new UsageError(`--${said} is not for --engine: keys and records are sorted over many machines`);
  }
  const isHere = engine === 'local';
  const ofWorkers: Readonly<Record<string, boolean>> = {
    device: args.device !== undefined,
    memory: args.memory !== undefined,
    tmp: args.tmp !== undefined,
  };
  const own = Object.keys(ofWorkers).find((name) => ofWorkers[name]);
  if (engine === 'bullmq' && own !== undefined) {
    throw new UsageError(`--${own} is each worker's own: say it to 'clsort worker'`);
  }
  const isPrinted = args.print || args.submit;
  if (isHere || engine === 'bullmq') {
    if (isPrinted)
      throw new UsageError(`--engine ${engine} runs the sort itself: --print and --submit are not for it`);
    return;
  }
  if (engine === 'kubernetes' && args.submit) {
    throw new UsageError('--engine kubernetes makes a manifest only: --print it, and apply it with kubectl');
  }
  if (!isPrinted) {
    throw new UsageError(
      `--engine ${engine}: --print what is to be submitted${engine === 'slurm' ? ', or --submit it' : ''}`,
    );
  }
}

function requestOf(args: SortArguments): SortRequest {
  const { in: inputs, out, partitions, shards, algorithm, format, 'radix-bits': radixBits } = args;
  if (out === undefined) throw new UsageError("no output: name a folder for the parts, as in '-o sorted'");
  if (out === '-')
    throw new UsageError('the result of many machines is a folder of parts: name one, not stdout');
  const records = readRecords(args);
  const scan = args.scan === 'auto' ? undefined : args.scan === '3' ? (3 as const) : (5 as const);
  const how = {
    ...(algorithm !== 'auto' && { algorithm }),
    ...(scan !== undefined && { scan }),
    ...(radixBits !== undefined && { radixBits }),
  };
  const common = { inputs, out, partitions, shards, how };
  if (records) return { ...common, records: { ...records, format } };
  const { bits, descending, nan } = readOrder(args);
  const keys = { ...readInput(args), descending, nan, to: readTo(args), ...(bits && { bits }) };
  return { ...common, keys };
}

export async function sortOverEngine(args: SortArguments, console: Console): Promise<ExitCode> {
  assertPossible(args);
  const url = args.engine === 'bullmq' ? expectRedis(args) : undefined;
  const request = requestOf(args);
  const { signal } = console;
  const started = performance.now();
  const open = await openSortJob(request, { workersFolder: args['workers-folder'], signal });
  try {
    if (args.engine === 'slurm') return await toSlurm(open, args, console);
    if (args.engine === 'kubernetes') return await toKubernetes(open, args, console);
    return await runHere(open, { url, started }, args, console);
  } finally {
    await open.release();
  }
}

async function runHere(
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
      `${isOld ? ', gone on with' : ''}; up to ${bytesText(bytes)} beside the result in ${folder.path}`,
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
  const tellKept = (): void =>
    note(`what is done so far is kept in ${folder.path}: the same command goes on with it`);
  signal.addEventListener('abort', tellKept, { once: true });
  try {
    const engine: Engine = url
      ? await BullEngine.open({
          ...{ url, queue: args.queue, id: folder.id, out: job.out },
          onWarning: (message) => view.say(`warning: ${message}`),
        })
      : new LocalEngine(context);
    const times = new RunTimes(started);
    const report = await runSort({ job, folder, context }, engine, (event) => {
      times.hear(event);
      view.hear(event);
    });
    view.clear();
    const run = runReport(job, report, { engine: engine.name, ...times.facts });
    tell(report, { id: folder.id, seconds: run.seconds, run }, args, console);
    return EXIT.ok;
  } catch (error) {
    if (!signal.aborted && (await folder.readJob().catch(() => undefined))) tellKept();
    throw error;
  } finally {
    signal.removeEventListener('abort', tellKept);
    view.clear();
    await (await sorter?.catch(() => undefined))?.close();
  }
}

function tell(
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

/** How clsort is called here: by this Node, and this file. */
const ownCommand = (): string[] => [process.execPath, fileURLToPath(new URL('./main.js', import.meta.url))];

const words = (text: string | undefined): string[] | undefined =>
  text?.split(/\s+/).filter((word) => word !== '');

function nodeOptions({ shared }: OpenJob, args: SortArguments, command: readonly string[]) {
  return {
    command,
    root: shared.root,
    device: (args.device ?? ['auto']).join(','),
    memory: args.memory,
    tmp: args.tmp,
  };
}

async function toSlurm(open: OpenJob, args: SortArguments, console: Console): Promise<ExitCode> {
  const { job, folder } = open;
  if (args.submit) await assertNotPending(folder);
  const node = nodeOptions(open, args, words(args.command) ?? ownCommand());
  const script = await slurmScript(job, folder, node, words(args.sbatch) ?? []);
  if (args.print) print(console, script);
  else {
    const ids = await submit(script);
    const json = { schema: 'clsort.submitted/1', id: folder.id, jobs: ids };
    print(console, args.json ? JSON.stringify(json) : `job ${folder.id}: submitted as ${ids.join(' ')}`);
  }
  return EXIT.ok;
}

async function toKubernetes(open: OpenJob, args: SortArguments, console: Console): Promise<ExitCode> {
  if (args.image === undefined)
    throw new UsageError('--engine kubernetes needs --image, one that has clsort and a driver');
  const options = {
    ...nodeOptions(open, args, words(args.command) ?? ['clsort']),
    ...{ image: args.image, claim: args.claim ?? 'clsort', resource: args.resource },
  };
  print(console, await kubernetesManifest(open.job, open.folder, options));
  return EXIT.ok;
}
