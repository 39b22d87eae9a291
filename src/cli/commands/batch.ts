import { access, constants, readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type BatchOptions, runBatch } from '../../batch/batch.js';
import type { BatchEvent, JobResult } from '../../batch/events.js';
import { fileState } from '../../batch/file-state.js';
import { Journal } from '../../batch/journal.js';
import { parseManifest } from '../../batch/manifest.js';
import type { BatchReport } from '../../batch/report/batch-report.js';
import { BatchTimeline } from '../../batch/report/batch-timeline.js';
import { reportFormat, writeReport } from '../../batch/report/report.js';
import { defaultParallel } from '../../batch/runner.js';
import { type Incoming, readManifest } from '../../batch/stream.js';
import { Tally } from '../../batch/tally.js';
import { defaultMemory } from '../../io/external/free-memory.js';
import { ioError, isStdin } from '../../io/streams/raw.js';
import { isSameFile } from '../../io/streams/same-file.js';
import { UsageError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { plainName } from '../../util/plain-text.js';
import { MAX_TIMER_MS } from '../../util/timer.js';
import { assertWholeNumber } from '../../util/whole-number.js';
import { failureText, resultJson, resultText, summaryText, viewLines } from '../batch-text.js';
import { type Console, print, say } from '../console.js';
import { readDeviceList } from '../device-arguments.js';
import { EXIT, type ExitCode, exitCodeOf } from '../exit-code.js';
import { LiveView } from '../live-view.js';
import { readSize } from '../memory-options.js';
import { cannotCombine, missingEngine } from '../option-errors.js';
import type { BatchArguments } from '../options/batch.js';
import { schedulerOption } from '../options/engine.js';

export async function run(args: BatchArguments, console: Console): Promise<ExitCode> {
  assertNoScheduler(args);
  const options = readOptions(args);
  const reports = (args.report ?? []).map((file) => ({ file, format: reportFormat(file) }));
  for (const { file } of reports) await assertWritable(file); // fail before hours of work, not after
  const batch = await readBatch(args, options.journal, console);
  try {
    if (args['dry-run']) return await printPlan(batch, args, options.journal, console);
    return await runAll(batch, { args, options, reports }, console);
  } finally {
    batch.stop?.();
  }
}

interface BatchRequest {
  readonly args: BatchArguments;
  readonly options: ReadOptions;
  readonly reports: readonly { readonly file: string; readonly format: string }[];
}

async function runAll(
  batch: Incoming,
  { args, options, reports }: BatchRequest,
  console: Console,
): Promise<ExitCode> {
  const open =
    args.engine === undefined
      ? undefined
      : await (await import('../distributed-batch.js')).distributedRunnerFor(args, options, console);
  const devices = readDeviceList(args.device ?? (batch.devices.length > 0 ? batch.devices : ['auto']));
  // stdout carries only the scheduler's script or manifest.
  const view = new BatchView(args, batch, args.print ? { ...console, stdout: console.stderr } : console);
  const { signal, temporaryFiles } = console;
  const { results, journalError } = await runBatch(batch, {
    ...options,
    keepAll: reports.length > 0,
    open,
    devices,
    signal,
    temporaryFiles,
    onEvent: (event) => view.handle(event),
  });
  const report = view.end(results);
  for (const { file, format } of reports) await writeReport(file, format, report, console);
  if (journalError) throw journalError;
  return exitOf(results, console);
}

/**
 * Checks that a report can be written, before the batch starts.
 *
 * @throws IoError when the file or its folder is not writable
 */
async function assertWritable(file: string): Promise<void> {
  try {
    const found = await stat(file).catch(() => undefined);
    if (found?.isDirectory()) throw Object.assign(new Error('is a directory'), { code: 'EISDIR' });
    await access(dirname(resolve(file)), constants.W_OK);
    if (found) await access(file, constants.W_OK);
  } catch (error) {
    throw ioError('write', file, error);
  }
}

type ReadOptions = Omit<BatchOptions, 'devices' | 'keepAll' | 'signal' | 'temporaryFiles' | 'onEvent'>;

/** Longest timeout in whole seconds that a timer supports. */
const MAX_SECONDS = Math.floor(MAX_TIMER_MS / 1000);

/** Returns whether the manifest is a regular file, which can have a journal next to it, and not stdin or a pipe. */
const isOfFile = (jobs: string): boolean => !isStdin(jobs) && fileState(jobs) !== undefined;

/**
 * Reads the options of the batch runner and fills in defaults.
 *
 * @throws UsageError when an option is out of range, or when two options conflict
 */
function readOptions(args: BatchArguments): ReadOptions {
  const { jobs, journal, force, parallel = defaultParallel(), retries, timeout, memory } = args;
  if (args['fail-fast'] && args['keep-going']) {
    throw cannotCombine('--fail-fast', '--keep-going', 'one stops after a failure, the other continues');
  }
  assertWholeNumber('--parallel', parallel);
  assertWholeNumber('--retries', retries, { min: 0 });
  if (timeout !== undefined && !(timeout > 0 && timeout <= MAX_SECONDS)) {
    throw invalidArgument('--timeout', `a number of seconds above 0 and up to ${MAX_SECONDS}`, timeout);
  }
  return {
    ...{ parallel, retries, timeout, force, failFast: args['fail-fast'] },
    memory: memory === undefined ? defaultMemory() : readSize(memory),
    journal: journal ?? (isOfFile(jobs) ? `${jobs}.journal` : undefined),
  };
}

/**
 * Rejects scheduler options without `--engine`.
 *
 * @throws UsageError when a scheduler option was given
 */
function assertNoScheduler(args: BatchArguments): void {
  const option = args.engine === undefined ? schedulerOption(args) : undefined;
  if (option !== undefined) throw missingEngine(`--${option}`, 'slurm');
}

async function readBatch(
  { jobs, report = [] }: BatchArguments,
  journal: string | undefined,
  { stdin, signal }: Console,
): Promise<Incoming> {
  const protectedFiles: [path: string, what: string][] = report.map((file) => [resolve(file), 'a report']);
  if (journal !== undefined) protectedFiles.unshift([resolve(journal), 'the journal']);
  if (isStdin(jobs)) {
    await assertDistinctFiles(protectedFiles);
    signal.addEventListener('abort', () => stdin.destroy(), { once: true });
    return readManifest(stdin, { name: 'stdin', folder: process.cwd(), protectedFiles });
  }
  protectedFiles.unshift([resolve(jobs), 'the manifest']);
  await assertDistinctFiles(protectedFiles);
  const text = await readFile(jobs, 'utf8').catch((error) => {
    throw ioError('read', jobs, error);
  });
  const folder = isOfFile(jobs) ? dirname(resolve(jobs)) : process.cwd();
  return parseManifest(text, { name: jobs, folder, protectedFiles });
}

/**
 * Checks that the manifest, the journal and the reports are distinct files.
 *
 * @throws UsageError when two of them are the same file
 */
async function assertDistinctFiles(
  protectedFiles: readonly (readonly [path: string, what: string])[],
): Promise<void> {
  for (const [i, [path, what]] of protectedFiles.entries()) {
    for (const [before, other] of protectedFiles.slice(0, i)) {
      if (what === other || !(path === before || (await isSameFile(path, before)))) continue;
      throw new UsageError(`cannot use ${path} as ${what}: it is ${other}. Pass another file`, {
        details: { path },
      });
    }
  }
}

/** Shows the progress of a batch and collects the data of its report. */
class BatchView {
  readonly #args: BatchArguments;
  readonly #console: Console;
  readonly #isJson: boolean;
  readonly #jobs: number | undefined;
  readonly #view: LiveView;
  readonly #tally = new Tally();
  readonly #timeline = new BatchTimeline();

  constructor(args: BatchArguments, { jobs }: Incoming, console: Console) {
    this.#args = args;
    this.#console = console;
    this.#isJson = args.json ?? !console.stdout.isTTY;
    this.#jobs = Array.isArray(jobs) ? jobs.length : undefined;
    this.#view = new LiveView(console);
  }

  handle(event: BatchEvent): void {
    this.#tally.handle(event);
    if (this.#args.report) this.#timeline.handle(event);
    if (event.is === 'warning') this.#say(`clsort: warning: ${event.message}`);
    if (event.is === 'end') this.#printResult(event.result);
    this.#view.update(() => viewLines(this.#tally, this.#jobs));
  }

  #say(text: string): void {
    this.#view.clear();
    say(this.#console, text);
  }

  #printResult(result: JobResult): void {
    this.#view.clear();
    if (this.#isJson) print(this.#console, JSON.stringify(resultJson(result)));
    else if (result.outcome === 'error' || !this.#console.quiet) print(this.#console, resultText(result));
  }

  /** Repeats the failures after a mixed result, where they would scroll out of sight, and returns the report. */
  end(results: readonly JobResult[]): BatchReport {
    this.#view.clear();
    const { counts, seconds, startSeconds = 0 } = this.#tally;
    const { ok, error: failed, done, skipped } = counts;
    const jobs = this.#tally.ended;
    const summary = { jobs, ok, done, failed, skipped, seconds, startSeconds };
    const failures = results.filter((result) => result.outcome === 'error');
    const write = this.#isJson ? say : print;
    if (failures.length > 0 && jobs > failures.length && !this.#console.quiet) {
      write(this.#console, `\n${failures.length} of ${jobs} jobs failed:`);
      for (const failure of failures) write(this.#console, failureText(failure));
    }
    if (this.#isJson) print(this.#console, JSON.stringify({ schema: 'clsort.batch-summary/1', ...summary }));
    else print(this.#console, summaryText(counts, seconds));
    const name = isStdin(this.#args.jobs) ? 'stdin' : this.#args.jobs;
    return { name, summary, rows: results.map(resultJson), timeline: this.#timeline.tracks() };
  }
}

function exitOf(results: readonly JobResult[], { signal }: Console): ExitCode {
  const failed = results.find((result) => result.outcome === 'error');
  if (failed) return exitCodeOf(failed.error) ?? EXIT.device;
  return signal.aborted ? EXIT.interrupted : EXIT.ok;
}

/** Prints what a run would do (`--dry-run`). */
async function printPlan(
  { jobs }: Incoming,
  { json, force }: BatchArguments,
  path: string | undefined,
  console: Console,
): Promise<ExitCode> {
  const journal = path === undefined || force ? undefined : await Journal.inspect(path);
  const isJson = json ?? !console.stdout.isTTY;
  let code: ExitCode = EXIT.ok;
  for await (const job of jobs) {
    if ('error' in job) {
      code = EXIT.usage;
      say(console, `clsort: ${job.error.message}`);
      continue;
    }
    const outcome = journal?.isDone(job) ? 'done' : 'planned';
    const { name, in: from, out } = job;
    const row = { schema: 'clsort.batch-job/1', name, in: from, out, outcome };
    print(
      console,
      isJson
        ? JSON.stringify(row)
        : plainName(`${outcome.padEnd(8)} ${name}: ${[from].flat().join(', ')} → ${out}`),
    );
  }
  return code;
}
