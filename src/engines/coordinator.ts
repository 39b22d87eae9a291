/**
 * Runs the stages of a job in sequence on any job runner. Work with a task record is complete; the rest becomes tasks.
 */

import { assertNotAborted } from '../io/streams/raw.js';
import { AbortedError, MismatchError } from '../util/errors.js';
import type { JobFolder } from './job-folder.js';
import {
  CancelledError,
  isCancelled,
  type JobRunner,
  type JobStatus,
  STAGES,
  type Task,
  type TaskEvent,
} from './job-runner.js';
import { tasksOf } from './run-task.js';
import type { StageWork } from './stages.js';
import { finish, type PartsReport } from './verify-part.js';

/** An event of a job or one of its tasks. */
export type JobEvent =
  | TaskEvent
  /** `done` is the number of tasks completed before. */
  | ({ readonly is: 'stage' } & JobStatus);

export type JobListener = (event: JobEvent) => void;

/**
 * Runs a sort, resuming an earlier run.
 *
 * @param work the job, its folder and context
 * @param runner runs the tasks; closed at the end
 * @param listen receives events
 * @returns the report of the parts
 * @throws the error of the first task that fails permanently; running tasks of its stage end, and completed work is
 * kept
 * @throws AbortedError when the signal aborts or the job is cancelled
 * @throws MismatchError when verification fails; all work is removed then
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
    // A retry would find the same mismatch, and its sources are gone.
    if (error instanceof MismatchError) await folder.remove();
    if (!(await folder.isCancelled()) && !isCancelled(error)) throw error;
    await folder.remove();
    throw new AbortedError(`cannot complete job ${folder.id}: it was cancelled, and its files were removed`, {
      cause: error,
    });
  } finally {
    stop();
    await runner.close(outcome);
  }
}

/** Milliseconds between two checks for cancellation. */
const POLL_MS = 1000;

/** Returns a signal that aborts with another one, or when the job is cancelled. */
function watch(folder: JobFolder, signal: AbortSignal): { signal: AbortSignal; stop: () => void } {
  const cancelled = new AbortController();
  const timer = setInterval(() => {
    folder.isCancelled().then(
      (isCancelled) => {
        if (isCancelled)
          cancelled.abort(new CancelledError(`cannot continue job ${folder.id}: it was cancelled`));
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

/**
 * Runs the tasks of a kind that have no record.
 *
 * @throws the error of the first task that fails permanently
 */
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
  if (left > 0)
    throw new AbortedError(`cannot complete stage ${kind}: ${left} of ${count} tasks were dropped`);
}
