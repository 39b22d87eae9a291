/** Runs the jobs of a batch on a job runner: each job is a task, and the task record holds its result. */
import { stat } from 'node:fs/promises';
import type { JobResult } from '../batch/events.js';
import type { Entry } from '../batch/job-queue.js';
import { inputsOf, type Job } from '../batch/jobs.js';
import type { RunOptions } from '../batch/runner.js';
import { AbortedError, UsageError } from '../util/errors.js';
import { VERSION } from '../util/package.js';
import { BATCH_SCHEMA, type BatchJobs, type BatchRecord, sharedJob } from './batch-job.js';
import { acquireCoordinatorLock } from './coordinator-lock.js';
import { idOf, JobFolder } from './job-folder.js';
import type { JobRunner, Task, TaskEvent } from './job-runner.js';
import type { SharedFolder } from './shared-folder.js';

export interface DirectExecution {
  readonly runner: (id: string) => Promise<JobRunner>;
}

/** Runs jobs after this process has ended; the next run of the same batch reports their results. */
export interface Scheduler {
  /** @throws UsageError while jobs of an earlier run are pending */
  readonly assertFree: (folder: JobFolder) => Promise<void>;
  /** @param open indices of the tasks without a record */
  readonly handOver: (batch: BatchJobs, folder: JobFolder, open: readonly number[]) => Promise<void>;
}

export interface DistributedBatchRunnerOptions extends Pick<RunOptions, 'failFast' | 'signal' | 'onEvent'> {
  readonly shared: SharedFolder;
  /** Name of the manifest, which identifies the batch. */
  readonly name: string;
  /** The job runner, or the scheduler that receives the jobs. */
  readonly by: DirectExecution | Scheduler;
}

export class DistributedBatchRunner {
  readonly #options: DistributedBatchRunnerOptions;
  readonly #entries: Entry[] = [];
  /** Jobs by task index. */
  readonly #tasks = new Map<number, Job>();

  constructor(options: DistributedBatchRunnerOptions) {
    this.#options = options;
  }

  add(entries: readonly Entry[]): void {
    this.#entries.push(...entries);
  }

  /**
   * Declares that no more jobs will be added, and runs them.
   *
   * @returns a promise that resolves when every job has ended or was handed over to the scheduler
   * @throws UsageError when a job names a device or a file outside the shared folder, or an earlier run is active
   * @throws IoError when the job folder cannot be used
   */
  async end(): Promise<void> {
    const { shared, name, by } = this.#options;
    if (this.#entries.length === 0) return;
    const jobs: Job[] = [];
    for (const { job } of this.#entries) {
      if (job.device !== undefined) {
        throw new UsageError(
          `cannot run ${job.name} on workers: it sets device (${job.device}), and each worker has its own. ` +
            "Pass --device to 'clsort worker'",
        );
      }
      jobs.push(await sharedJob(job, shared));
    }
    const folder = await JobFolder.make(shared, idOf(`batch ${name}`));
    const release = await acquireCoordinatorLock(folder);
    try {
      if ('handOver' in by) await by.assertFree(folder);
      const batch = await this.#prepare(folder, jobs);
      const open = await this.#reportDone(folder);
      if ('handOver' in by && open.length > 0) {
        await by.handOver(batch, folder, open);
        return;
      }
      if ('runner' in by) await this.#runWith(await by.runner(folder.id), folder, open);
      await folder.remove();
    } finally {
      await release();
    }
  }

  /**
   * Keeps the task records of an earlier run whose files have not changed, and removes the others. Jobs keep their
   * indices when an earlier batch contains all of them, since jobs known to be complete are not submitted again.
   */
  async #prepare(folder: JobFolder, jobs: readonly Job[]): Promise<BatchJobs> {
    const found = await folder.readJob<BatchJobs>();
    const knownJobs = found?.version === VERSION && found.schema === BATCH_SCHEMA ? found.jobs : [];
    const numbers = new Map(knownJobs.map((job, i) => [JSON.stringify(job), i]));
    const places = jobs.map((job) => numbers.get(JSON.stringify(job)));
    const isKnown = places.every((place) => place !== undefined);
    for (const [i, { job }] of this.#entries.entries()) this.#tasks.set(isKnown ? (places[i] ?? i) : i, job);
    for (const index of await folder.done('batch')) {
      const job = this.#tasks.get(index);
      const record = isKnown && job ? await folder.get<BatchRecord>('batch', index) : undefined;
      if (!job || !record || !(await isUnchanged(job, record))) await folder.forget('batch', index);
    }
    const batch: BatchJobs = { schema: BATCH_SCHEMA, version: VERSION, jobs: isKnown ? knownJobs : jobs };
    if (!isKnown) await folder.writeJob(batch);
    return batch;
  }

  /** Reports the jobs that have a record, and returns the indices of the others. */
  async #reportDone(folder: JobFolder): Promise<number[]> {
    const done = await folder.done('batch');
    const open: number[] = [];
    for (const index of this.#tasks.keys()) {
      if (done.has(index)) await this.#reportSuccess(folder, index, 'an earlier run');
      else open.push(index);
    }
    return open;
  }

  async #reportSuccess(folder: JobFolder, index: number, device: string): Promise<void> {
    const job = this.#tasks.get(index);
    const { made } = await folder.expect<BatchRecord>('batch', index);
    if (job)
      this.#options.onEvent({ is: 'end', result: { job, outcome: 'ok', device, attempts: 1, ...made } });
  }

  async #runWith(runner: JobRunner, folder: JobFolder, open: readonly number[]): Promise<void> {
    let outcome: 'done' | 'failed' = 'failed';
    try {
      outcome = (await this.#run(folder, runner, open)) ? 'done' : 'failed';
    } finally {
      await runner.close(outcome);
    }
  }

  /** @returns whether all jobs have succeeded */
  async #run(folder: JobFolder, runner: JobRunner, open: readonly number[]): Promise<boolean> {
    const { signal, onEvent, failFast } = this.#options;
    const remaining = new Set(open);
    let failures = 0;
    const end = (index: number, result: JobResult): void => {
      remaining.delete(index);
      if (result.outcome === 'error') failures++;
      onEvent({ is: 'end', result });
    };
    const tasks = open.map((index): Task => ({ job: folder.id, kind: 'batch', index }));
    const total = this.#tasks.size;
    const reportStatus = () =>
      runner.reportStatus({ stage: 'batch', done: total - remaining.size, tasks: total });
    await reportStatus();
    const isDone = async ({ index }: Task): Promise<boolean> =>
      (await folder.get('batch', index)) !== undefined;
    try {
      for await (const event of tasks.length > 0 ? runner.run(tasks, isDone, signal) : []) {
        if (event.is === 'done') {
          remaining.delete(event.task.index);
          await this.#reportSuccess(folder, event.task.index, event.worker);
        } else this.#handle(event, end);
        await reportStatus();
        if (failFast && failures > 0) break;
      }
    } catch (error) {
      if (!(error instanceof AbortedError)) throw error;
    }
    for (const index of [...remaining]) {
      const job = this.#tasks.get(index);
      if (job) end(index, { job, outcome: 'skipped' });
    }
    return failures === 0 && !signal.aborted;
  }

  #handle(event: TaskEvent, end: (index: number, result: JobResult) => void): void {
    const { onEvent } = this.#options;
    if (event.is === 'warning') {
      onEvent(event);
      return;
    }
    const job = this.#tasks.get(event.task.index);
    if (!job) return;
    const device = event.worker;
    if (event.is === 'begin') onEvent({ is: 'begin', job, device });
    else if (event.is === 'progress') onEvent({ is: 'progress', job, device, progress: event.progress });
    else if (event.is === 'again') onEvent({ is: 'again', job, device, error: event.error });
    else if (event.is === 'failed') {
      const { error } = event;
      end(event.task.index, { job, outcome: 'error', error, seconds: 0, attempts: 1, device });
    }
  }
}

/** Whether input and output of a job are unchanged since it completed. */
async function isUnchanged(job: Job, { made }: BatchRecord): Promise<boolean> {
  const statOf = (path: string) => stat(path).catch(() => undefined);
  const output = await statOf(job.out);
  if (output === undefined || output.size !== made.output?.bytes) return false;
  const recorded = [made.input ?? []].flat();
  for (const [i, path] of inputsOf(job).entries()) {
    if (path === job.out) continue;
    const input = await statOf(path);
    if (input === undefined || input.size !== recorded[i]?.bytes || input.mtimeMs > output.mtimeMs)
      return false;
  }
  return true;
}
