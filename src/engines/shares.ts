/** Tasks for a scheduler that knows numbers only: each of so many workers does every so-manieth task of a stage. */
import type { BatchJobs } from './batch-job.js';
import type { JobFolder } from './job-folder.js';
import { STAGES, type Stage, type Task } from './job-runner.js';
import { runTask, tasksOf } from './run-task.js';
import type { SortJob } from './sort-job.js';
import { finish, type PartsReport } from './verify-part.js';
import type { WorkerContext } from './worker-context.js';

/** What a scheduler runs: a stage, or the end of a sort; or the jobs of a batch. */
export const STEPS = [...STAGES, 'finish', 'batch'] as const;
export type Step = (typeof STEPS)[number];

/** Most workers of a stage: schedulers have limits of their own (Slurm's MaxArraySize is 1001 by default). */
const MAX_SHARES = 1000;

/** Into how many shares a stage is cut: known before its tasks are, which for parts follow from the stages before. */
export function sharesOf({ shards, partitions }: SortJob, stage: Stage): number {
  if (stage === 'splitters') return 1;
  return Math.min(MAX_SHARES, stage === 'sort' || stage === 'verify' ? partitions : shards.length);
}

/** The shares that have something to do, as far as that is known. */
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

/** Does a share of a stage. @returns how many tasks that were */
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

/** Into how many shares the jobs of a batch are cut. */
export const batchSharesOf = ({ jobs }: BatchJobs): number => Math.min(MAX_SHARES, jobs.length);

/** The shares that have some of these tasks. */
export function batchSharesWith(batch: BatchJobs, open: readonly number[]): number[] {
  const shares = batchSharesOf(batch);
  return [...new Set(open.map((index) => index % shares))].toSorted((a, b) => a - b);
}

/**
 * Does a share of a batch: all of its jobs, also when one has failed.
 *
 * @throws what the first of them threw
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

/** The end of a sort. */
export const runFinish = (job: SortJob, folder: JobFolder, context: WorkerContext): Promise<PartsReport> =>
  finish({ job, folder, context });
