/** Runs the stages of a job one after the other, on any engine: what has a record is done, and anything else is a task. */

import { assertNotAborted } from '../io/raw.js';
import { AbortedError, MismatchError } from '../util/errors.js';
import type { JobFolder } from './job-folder.js';
import {
  CancelledError,
  isCancelled,
  type JobRunner,
  STAGES,
  type Task,
  type TaskEvent,
} from './job-runner.js';
import { tasksOf } from './run-task.js';
import type { StageWork } from './stages.js';
import { finish, type PartsReport } from './verify-part.js';

/** What is heard of a job beside its tasks. */
export type JobEvent =
  | TaskEvent
  | {
      readonly is: 'stage';
      readonly stage: string;
      readonly tasks: number;
      /** How many of these had been done before. */
      readonly done: number;
    };

export type JobListener = (event: JobEvent) => void;

/**
 * Sorts, from where an earlier run ended.
 *
 * @throws what a task throws that has failed for good; the others of its stage that are under way end, and what is done is kept
 */
export async function runSort(work: StageWork, runner: JobRunner, listen: JobListener): Promise<PartsReport> {
  const { job, folder, context } = work;
  let outcome: 'done' | 'failed' = 'failed';
  const { signal, stop } = watch(folder, context.signal);
  try {
    for (const stage of STAGES) {
      assertNotAborted(signal);
      const count = await tasksOf(job, folder, stage);
      await runTasks({ folder, runner, kind: stage, count, signal }, listen);
    }
    const report = await finish(work);
    outcome = 'done';
    return report;
  } catch (error) {
    // What is wrong would be wrong again, and what it was made of is gone.
    if (error instanceof MismatchError) await folder.remove();
    if (!(await folder.isCancelled()) && !isCancelled(error)) throw error;
    await folder.remove();
    throw new AbortedError('the job was cancelled, and nothing is kept of it', { cause: error });
  } finally {
    stop();
    await runner.close(outcome);
  }
}

/** Between two looks whether a job is to be given up. */
const POLL_MS = 1000;

/** A signal that fires with another one, and when the job is cancelled. */
function watch(folder: JobFolder, signal: AbortSignal): { signal: AbortSignal; stop: () => void } {
  const cancelled = new AbortController();
  const timer = setInterval(() => {
    folder.isCancelled().then(
      (isCancelled) => {
        if (isCancelled) cancelled.abort(new CancelledError('the job was cancelled'));
      },
      () => undefined,
    );
  }, POLL_MS);
  timer.unref();
  return { signal: AbortSignal.any([signal, cancelled.signal]), stop: () => clearInterval(timer) };
}

interface TasksToRun {
  readonly folder: JobFolder;
  readonly runner: JobRunner;
  readonly kind: Task['kind'];
  readonly count: number;
  readonly signal: AbortSignal;
}

/** Runs those tasks of a kind that have no record. @throws what the first of them throws that fails for good */
async function runTasks(
  { folder, runner, kind, count, signal }: TasksToRun,
  listen: JobListener,
): Promise<void> {
  const done = await folder.done(kind);
  const tasks = Array.from({ length: count }, (_, index): Task => ({ job: folder.id, kind, index })).filter(
    ({ index }) => !done.has(index),
  );
  listen({ is: 'stage', stage: kind, tasks: count, done: count - tasks.length });
  let ended = count - tasks.length;
  await runner.reportStatus({ stage: kind, done: ended, tasks: count });
  if (tasks.length === 0) return;
  const isDone = async (task: Task): Promise<boolean> => (await folder.get(kind, task.index)) !== undefined;
  for await (const event of runner.run(tasks, isDone, signal)) {
    listen(event);
    if (event.is === 'failed') throw event.error;
    if (event.is === 'done') await runner.reportStatus({ stage: kind, done: ++ended, tasks: count });
  }
  assertNotAborted(signal);
  const left = tasks.length - [...(await folder.done(kind))].filter((index) => !done.has(index)).length;
  if (left > 0) throw new AbortedError(`${left} tasks of ${kind} were given up`);
}
