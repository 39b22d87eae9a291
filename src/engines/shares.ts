/**
 * Shares of stages, for schedulers of numbered tasks: share i of n runs every n-th task of a stage, starting with i.
 */
import type { BatchJobs } from './batch-job.js';
import type { JobFolder } from './job-folder.js';
import { STAGES, type Stage, type Task } from './job-runner.js';
import { runTask, tasksOf } from './run-task.js';
import type { SortJob } from './sort-job.js';
import { finish, type PartsReport } from './verify-part.js';
import type { WorkerContext } from './worker-context.js';

/** The steps of a scheduler: the stages and the end of a sort, and the jobs of a batch. */
export const STEPS = [...STAGES, 'finish', 'batch'] as const;
export type Step = (typeof STEPS)[number];

/** Maximum number of shares of a stage; schedulers limit arrays (Slurm's MaxArraySize is 1001 by default). */
const MAX_SHARES = 1000;

/** Returns the number of shares of a stage. It is known in advance; the number of parts depends on earlier stages. */
export function sharesOf({ shards, partitions }: SortJob, stage: Stage): number {
  if (stage === 'splitters') return 1;
  return Math.min(MAX_SHARES, stage === 'sort' || stage === 'verify' ? partitions : shards.length);
}

/** Returns the shares with remaining tasks, as far as these are known. */
export async function openShares(job: SortJob, folder: JobFolder, stage: Stage): Promise<number[]> {
  const shares = sharesOf(job, stage);
  const all = Array.from({ length: shares }, (_, i) => i);
  const isKnown = stage !== 'sort' && stage !== 'verify';
  const before = isKnown || (await folder.done('partition')).size === job.shards.length;
  if (!before) return all;
  const count = await tasksOf(job, folder, stage);
  const done = await folder.done(stage);
  return all.filter((share) => {
    for (let i = share; i < count; i += shares) if (!done.has(i)) return true;
    return false;
  });
}

/**
 * Runs a share of a stage.
 *
 * @returns the number of tasks
 */
export async function runShare(
  { job, folder, stage, share }: { job: SortJob; folder: JobFolder; stage: Stage; share: number },
  context: WorkerContext,
  onTask: (task: Task) => void,
): Promise<number> {
  const shares = sharesOf(job, stage);
  const count = await tasksOf(job, folder, stage);
  let run = 0;
  for (let index = share; index < count; index += shares, run++) {
    const task = { job: folder.id, kind: stage, index };
    onTask(task);
    await runTask(task, context);
  }
  return run;
}

export const batchSharesOf = ({ jobs }: BatchJobs): number => Math.min(MAX_SHARES, jobs.length);

/** Returns the shares that contain any of the given tasks. */
export function batchSharesWith(batch: BatchJobs, open: readonly number[]): number[] {
  const shares = batchSharesOf(batch);
  return [...new Set(open.map((index) => index % shares))].toSorted((a, b) => a - b);
}

/**
 * Runs a share of a batch: all of its jobs, even after a failure.
 *
 * @throws the first error
 */
export async function runBatchShare(
  { batch, folder, share }: { batch: BatchJobs; folder: JobFolder; share: number },
  context: WorkerContext,
  onTask: (task: Task, error?: Error) => void,
): Promise<void> {
  const shares = batchSharesOf(batch);
  let failure: Error | undefined;
  for (let index = share; index < batch.jobs.length; index += shares) {
    const task = { job: folder.id, kind: 'batch', index } as const;
    onTask(task);
    try {
      await runTask(task, context);
    } catch (error) {
      if (context.signal.aborted) throw error;
      onTask(task, error as Error);
      failure ??= error as Error;
    }
  }
  if (failure) throw failure;
}

/** Completes a sort. */
export const runFinish = (job: SortJob, folder: JobFolder, context: WorkerContext): Promise<PartsReport> =>
  finish({ job, folder, context });
