/** Runs the jobs of a batch on an engine: each is a task, and what came of it is its record. */
import { stat } from 'node:fs/promises';
import type { JobResult, Listener } from '../batch/events.js';
import { inputsOf, type Job } from '../batch/jobs.js';
import type { Entry } from '../batch/queue.js';
import { AbortedError, UsageError } from '../util/errors.js';
import { VERSION } from '../util/package.js';
import { BATCH_SCHEMA, type BatchJobs, type BatchRecord, sharedJob } from './batch-job.js';
import { coordinate } from './coordinator-lock.js';
import type { Engine, Task, TaskEvent } from './engine.js';
import { idOf, JobFolder } from './job-folder.js';
import type { SharedFolder } from './shared-folder.js';

export interface EngineRunnerOptions {
  readonly shared: SharedFolder;
  /** By which the batch is known again: the name of its manifest. */
  readonly name: string;
  /** Opens the engine for the job of that id. */
  readonly engine: (id: string) => Promise<Engine>;
  readonly failFast: boolean;
  readonly signal: AbortSignal;
  readonly onEvent: Listener;
}

export class EngineRunner {
  readonly #options: EngineRunnerOptions;
  readonly #entries: Entry[] = [];

  constructor(options: EngineRunnerOptions) {
    this.#options = options;
  }

  add(entries: readonly Entry[]): void {
    this.#entries.push(...entries);
  }

  /** No more will be added. @returns when each has ended; @throws UsageError, IoError where none can be run */
  async end(): Promise<void> {
    const { shared, name, engine: open } = this.#options;
    if (this.#entries.length === 0) return;
    const jobs: Job[] = [];
    for (const { job } of this.#entries) {
      if (job.device !== undefined) {
        throw new UsageError(`${job.name} names a device (${job.device}): workers have their own, --device`);
      }
      jobs.push(await sharedJob(job, shared));
    }
    const folder = await JobFolder.make(shared, idOf(`batch ${name}`));
    const release = await coordinate(folder);
    try {
      const batch: BatchJobs = { schema: BATCH_SCHEMA, version: VERSION, jobs };
      await this.#prepare(folder, batch);
      const engine = await open(folder.id);
      let outcome: 'done' | 'failed' = 'failed';
      try {
        outcome = (await this.#run(folder, engine)) ? 'done' : 'failed';
      } finally {
        await engine.close(outcome);
      }
      await folder.remove();
    } finally {
      await release();
    }
  }

  /** Leaves what an earlier run of the very same jobs has done, and forgets what has changed since. */
  async #prepare(folder: JobFolder, batch: BatchJobs): Promise<void> {
    const found = await folder.readJob<BatchJobs>();
    const isSame = JSON.stringify(found) === JSON.stringify(batch);
    for (const index of await folder.done('batch')) {
      const job = this.#entries[index]?.job;
      const record = isSame && job ? await folder.get<BatchRecord>('batch', index) : undefined;
      if (!job || !record || !(await isStill(job, record))) await folder.forget('batch', index);
    }
    await folder.writeJob(batch);
  }

  /** @returns whether all went well */
  async #run(folder: JobFolder, engine: Engine): Promise<boolean> {
    const { signal, onEvent, failFast } = this.#options;
    const ended = new Set<number>();
    let failures = 0;
    const end = (index: number, result: JobResult): void => {
      ended.add(index);
      if (result.outcome === 'error') failures++;
      onEvent({ is: 'end', result });
    };
    const endWell = async (index: number, worker: string): Promise<void> => {
      const job = this.#entries[index]?.job;
      const record = await folder.expect<BatchRecord>('batch', index);
      if (job) end(index, { job, outcome: 'ok', device: worker, attempts: 1, ...record.made });
    };
    for (const index of await folder.done('batch')) await endWell(index, 'an earlier run');
    const tasks = this.#entries
      .map((_, index): Task => ({ job: folder.id, kind: 'batch', index }))
      .filter(({ index }) => !ended.has(index));
    const total = this.#entries.length;
    await engine.tell({ stage: 'batch', done: ended.size, tasks: total });
    const isDone = async ({ index }: Task): Promise<boolean> =>
      (await folder.get('batch', index)) !== undefined;
    try {
      for await (const event of tasks.length > 0 ? engine.run(tasks, isDone, signal) : []) {
        if (event.is === 'done') await endWell(event.task.index, event.worker);
        else this.#hear(event, end);
        await engine.tell({ stage: 'batch', done: ended.size, tasks: total });
        if (failFast && failures > 0) break;
      }
    } catch (error) {
      if (!(error instanceof AbortedError)) throw error;
    }
    for (const [index, { job }] of this.#entries.entries()) {
      if (!ended.has(index)) end(index, { job, outcome: 'skipped' });
    }
    return failures === 0 && !signal.aborted;
  }

  #hear(event: TaskEvent, end: (index: number, result: JobResult) => void): void {
    const { onEvent } = this.#options;
    if (event.is === 'warning') {
      onEvent(event);
      return;
    }
    const job = this.#entries[event.task.index]?.job;
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

/** Are inputs and output of a job as they were when it was done? */
async function isStill(job: Job, { made }: BatchRecord): Promise<boolean> {
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
