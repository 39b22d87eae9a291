import type { FileFormat } from '../io/formats/file-format.js';
import { factsOfName } from '../io/formats/file-name.js';
import { npy } from '../io/formats/npy.js';
import { raw } from '../io/formats/raw.js';
import { IoError } from '../util/errors.js';
import { withAdvice } from '../util/invalid-argument.js';
import type { BatchEvent, JobResult } from './events.js';
import { codeOf, messageOf } from './failures.js';
import { fileState } from './file-state.js';
import type { Entry } from './job-queue.js';
import { inputsOf, type Job } from './jobs.js';
import { Journal } from './journal.js';
import {
  MEMORY_PER_BYTE,
  MEMORY_PER_COMPRESSED_BYTE,
  MIN_MEMORY,
  SMALL_BYTES,
  SMALL_JOBS_PER_SLOT,
  SMALL_MEMORY,
} from './policy.js';
import { Runner, type RunOptions } from './runner.js';
import type { Incoming, WrongLine } from './stream.js';

export interface BatchOptions extends RunOptions {
  /** Devices that share the jobs without a device of their own. */
  readonly devices: readonly string[];
  /** Path of the file that records completed jobs; jobs that it lists as complete are not run again. */
  readonly journal: string | undefined;
  /** Return the results of successful jobs as well, not only of failures; needs memory for each job. */
  readonly keepAll: boolean;
  /** Rerun completed jobs. */
  readonly force: boolean;
  /** Opens the runner of the jobs; default: worker processes on this host, one per device. */
  readonly open?: OpenRunner | undefined;
}

/** Opens a runner, which accepts jobs until `end` is called. */
export type OpenRunner = (
  devices: readonly { readonly device: string; readonly shares: boolean; readonly isLazy?: boolean }[],
  options: RunOptions,
) => Promise<Pick<Runner, 'add' | 'end'> & Partial<Pick<Runner, 'stop'>>>;

export interface BatchResults {
  /** In job order, without stages and spans, which only events carry. */
  readonly results: readonly JobResult[];
  /**
   * Set when the journal could not be written and the batch ended early. Names the completed jobs that will be run
   * again.
   */
  readonly journalError?: IoError;
}

/**
 * Runs the jobs of a batch in worker processes, several at once on each device.
 *
 * A failed job does not stop the others. When `signal` aborts or the journal cannot be written, unfinished jobs are
 * skipped.
 *
 * @param incoming the jobs, and a function that stops their source
 * @param options devices, limits and callbacks
 * @returns the results in job order
 * @throws NoDeviceError (or a similar error) when a device cannot be opened; no job has run then
 * @throws UsageError when another process is using the journal
 * @throws IoError when the journal cannot be opened
 */
export async function runBatch(
  { jobs, stop = () => undefined }: Pick<Incoming, 'jobs' | 'stop'>,
  options: BatchOptions,
): Promise<BatchResults> {
  const journal = options.journal === undefined ? undefined : await Journal.open(options.journal);
  try {
    return await new BatchRun({ jobs, stop }, journal, options).run();
  } finally {
    await journal?.close();
  }
}

class BatchRun {
  readonly #jobs: Incoming['jobs'];
  /** Stops the source of jobs. */
  readonly #stop: () => void;
  readonly #journal: Journal | undefined;
  readonly #options: BatchOptions;
  /** Aborts the batch when the journal cannot be written. */
  readonly #journalFailure = new AbortController();
  /** Successful jobs missing from the journal. */
  readonly #unrecorded: Job[] = [];
  readonly #signal: AbortSignal;
  readonly #results = new Map<number, JobResult>();
  /** Indices of unfinished jobs. */
  readonly #indices = new Map<Job, number>();
  #jobCount = 0;
  #runner: ReturnType<OpenRunner> | undefined;

  constructor(
    { jobs, stop }: Required<Pick<Incoming, 'jobs' | 'stop'>>,
    journal: Journal | undefined,
    options: BatchOptions,
  ) {
    this.#jobs = jobs;
    this.#stop = stop;
    this.#journal = journal;
    this.#options = options;
    this.#signal = AbortSignal.any([options.signal, this.#journalFailure.signal]);
  }

  async run(): Promise<BatchResults> {
    if (Array.isArray(this.#jobs)) await this.#add(this.#jobs);
    else await this.#addStream(this.#jobs as AsyncIterable<Job | WrongLine>);
    await (await this.#runner)?.end();
    const results = [...this.#results].toSorted(([a], [b]) => a - b).map(([, result]) => result);
    const { aborted, reason } = this.#journalFailure.signal;
    return {
      results,
      ...(aborted && { journalError: unrecordedJobsError(reason as IoError, this.#unrecorded) }),
    };
  }

  async #addStream(incoming: AsyncIterable<Job | WrongLine>): Promise<void> {
    for await (const one of incoming) {
      if (this.#signal.aborted) return;
      if (!('error' in one)) await this.#add([one]);
      else {
        const job = { name: one.line, in: '', out: '' };
        this.#indices.set(job, this.#jobCount++);
        this.#handle({
          is: 'end',
          result: { job, outcome: 'error', error: one.error, seconds: 0, attempts: 0 },
        });
        if (this.#options.failFast) (await this.#runner)?.stop?.();
      }
    }
  }

  async #add(jobs: readonly Job[]): Promise<void> {
    const entries: Entry[] = [];
    for (const job of jobs) {
      const index = this.#jobCount++;
      this.#indices.set(job, index);
      if (!this.#options.force && this.#journal?.isDone(job)) {
        this.#handle({ is: 'end', result: { job, outcome: 'done' } });
      } else entries.push(this.#entryOf(job, index));
    }
    if (entries.length === 0) return;
    const open = this.#options.open ?? Runner.open;
    this.#runner ??= open(this.#deviceQueuesFor(entries), {
      ...this.#options,
      signal: this.#signal,
      onEvent: (event) => this.#handle(event),
    });
    (await this.#runner).add(entries);
  }

  /** Streamed jobs may or may not name a device, so all devices are shared then. */
  #deviceQueuesFor(entries: readonly Entry[]): { device: string; shares: boolean; isLazy: boolean }[] {
    const isShared = !Array.isArray(this.#jobs) || entries.some(({ job }) => job.device === undefined);
    const sharing = isShared ? this.#options.devices : [];
    const named = entries.flatMap(({ job }) => job.device ?? []);
    const isLazy = entries.every(({ isSmall }) => isSmall);
    return [...new Set([...sharing, ...named])].map((device) => ({
      device,
      shares: sharing.includes(device),
      isLazy,
    }));
  }

  #entryOf(job: Job, index: number): Entry {
    const inputs = inputsOf(job);
    const bytes = inputs.reduce((sum, path) => sum + (fileState(path)?.bytes ?? 0), 0);
    const { memory, parallel, devices } = this.#options;
    const share = memory / (parallel * Math.max(1, devices.length));
    const isPlain = inputs.map(factsOfName).every(({ format, compression }) => {
      return !compression && (!format || UNCOMPRESSED_FORMATS.includes(format));
    });
    const areFiles = inputs.every((path) => fileState(path) !== undefined);
    const isSmall = isPlain && areFiles && bytes <= SMALL_BYTES;
    const limit = Math.floor(Math.min(memory, jobMemory(bytes, isPlain, share)));
    return {
      ...{ job, index, bytes, limit, isSmall, failures: 0, isSuspect: false },
      memory: isSmall ? Math.min(limit, SMALL_MEMORY) : limit,
      weight: isSmall ? 1 / SMALL_JOBS_PER_SLOT : 1,
    };
  }

  #handle(event: BatchEvent): void {
    if (event.is === 'end') {
      const { result } = event;
      const index = this.#indices.get(result.job);
      this.#indices.delete(result.job);
      const isRetained = this.#options.keepAll || result.outcome === 'error';
      if (index !== undefined && isRetained) this.#results.set(index, withoutDetails(result));
      try {
        recordResult(this.#journal, result);
      } catch (error) {
        if (result.outcome === 'ok') this.#unrecorded.push(result.job);
        this.#journalFailure.abort(error); // starts no job that could not be recorded
        this.#stop();
      }
      if (result.outcome === 'error' && this.#options.failFast) this.#stop();
    }
    this.#options.onEvent(event);
  }
}

/** Removes the large parts of a result, since there may be many. */
function withoutDetails(result: JobResult): JobResult {
  if (result.outcome !== 'ok') return result;
  return { ...result, spans: [], report: { ...result.report, stages: [] } };
}

/** Formats that hold keys as they are in memory. */
const UNCOMPRESSED_FORMATS: readonly FileFormat[] = [raw, npy];

/** Returns the memory of a job in bytes: as much as it needs, so that more jobs can run concurrently. */
function jobMemory(bytes: number, isPlain: boolean, share: number): number {
  const needed = bytes * (isPlain ? MEMORY_PER_BYTE : MEMORY_PER_COMPRESSED_BYTE);
  return Math.max(MIN_MEMORY, isPlain && bytes > 0 ? needed : Math.max(needed, share));
}

/** Maximum number of job names in a message, so that it stays short. */
const MAX_NAMES = 5;

/** Extends a journal error by the completed jobs that it does not contain. */
function unrecordedJobsError(error: IoError, jobs: readonly Job[]): IoError {
  if (jobs.length === 0) return error;
  const names = jobs.map(({ name }) => name);
  const some = `${names.slice(0, MAX_NAMES).join(', ')}${names.length > MAX_NAMES ? ', …' : ''}`;
  const what = names.length === 1 ? '1 completed job' : `${names.length} completed jobs`;
  const advice = `The journal lacks ${what}, which the next run repeats: ${some}`;
  return new IoError(withAdvice(error.message, advice), {
    cause: error.cause,
    details: { ...error.details, jobs: names },
  });
}

function recordResult(journal: Journal | undefined, result: JobResult): void {
  const { job, outcome } = result;
  if (!journal || job.out === '') return;
  const at = new Date().toISOString();
  if (outcome === 'ok') {
    const { seconds, device, input, output, counts } = result;
    const files = { ...(input && { input }), ...(output && { output }), ...(counts && { counts }) };
    journal.add(job, { outcome, at, seconds, device, ...files });
  } else if (outcome === 'error') {
    const { seconds, device, error } = result;
    const failure = { code: codeOf(error), message: messageOf(error) };
    journal.add(job, { outcome, at, seconds, ...(device !== undefined && { device }), error: failure });
  }
}
