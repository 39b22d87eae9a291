/** Batches on many workers: each job of the batch is a task, and the task record holds its result. */

import { dirname, posix } from 'node:path';
import { inputsOf, type Job, oneOrAll } from '../batch/jobs.js';
import type { JobCompletion } from '../batch/protocol.js';
import { runJob } from '../batch/run-job.js';
import { makeFolder } from '../io/streams/folder.js';
import { UsageError } from '../util/errors.js';
import type { JobFolder } from './job-folder.js';
import type { SharedFolder } from './shared-folder.js';
import { fileContext, type WorkerContext } from './worker-context.js';

export const BATCH_SCHEMA = 'clsort.batch-jobs/1';

export interface BatchJobs {
  readonly schema: typeof BATCH_SCHEMA;
  readonly version: string;
  /** Jobs with file names relative to the shared folder. */
  readonly jobs: readonly Job[];
}

/** Record of a batch task. */
export interface BatchRecord {
  readonly made: JobCompletion;
}

/** Maps the names of the outputs of a job. */
async function outputs(
  job: Job,
  named: (path: string) => Promise<string>,
): Promise<Pick<Job, 'out'> & { readonly counts?: string }> {
  const counts = 'counts' in job ? job.counts : undefined;
  return { out: await named(job.out), ...(counts !== undefined && { counts: await named(counts) }) };
}

/**
 * Returns a job with its file names relative to the shared folder.
 *
 * @throws UsageError when a file is not in the shared folder, or the job sets `tmp`
 */
export async function sharedJob(job: Job, shared: SharedFolder): Promise<Job> {
  if (job.tmp !== undefined) {
    throw new UsageError(
      `cannot run ${job.name} on workers: it sets tmp, and each worker has its own. Pass --tmp to 'clsort worker'`,
    );
  }
  const named = async (path: string): Promise<string> => {
    await makeFolder(dirname(path), path);
    return shared.nameOf(path);
  };
  const inputs: string[] = [];
  for (const path of inputsOf(job)) inputs.push(await shared.nameOf(path));
  return { ...job, ...(await outputs(job, named)), in: oneOrAll(inputs) } as Job;
}

/**
 * Runs one job of a batch, unless it has a task record.
 *
 * @throws UsageError when a file is outside the shared folder, or the batch has no such job
 * @throws the errors of `runJob`
 */
export async function runBatchTask(
  { jobs }: BatchJobs,
  index: number,
  folder: JobFolder,
  context: WorkerContext,
): Promise<void> {
  const job = jobs[index];
  if (!job) throw new UsageError(`cannot run job ${index + 1}: the batch has ${jobs.length} jobs`);
  if (await folder.get('batch', index)) return;
  const { shared, tmp } = context;
  const from: string[] = [];
  for (const path of inputsOf(job)) from.push(await shared.existing(path));
  const to = await outputs(job, (path) => shared.target(posix.normalize(path)));
  const { tmp: _, ...rest } = job;
  const own = {
    ...rest,
    ...to,
    in: oneOrAll(from),
    ...(tmp !== undefined && !('by' in job) && { tmp }),
  } as Job;
  const made = await runJob(
    await context.sorter(),
    { job: own, memory: context.memory },
    fileContext(context),
  );
  await folder.put('batch', index, { made });
}
