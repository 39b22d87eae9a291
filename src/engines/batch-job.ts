/** Batches over many workers: a job of the batch is a task, and its record what came of it. */

import { mkdir } from 'node:fs/promises';
import { dirname, posix } from 'node:path';
import type { Job } from '../batch/jobs.js';
import type { Made } from '../batch/protocol.js';
import { runJob } from '../batch/run-job.js';
import { ioError } from '../io/raw.js';
import { UsageError } from '../util/errors.js';
import type { JobFolder } from './job-folder.js';
import type { SharedFolder } from './shared-folder.js';
import { fileContext, type WorkerContext } from './worker-context.js';

export const BATCH_SCHEMA = 'clsort.batch-jobs/1';

export interface BatchJobs {
  readonly schema: typeof BATCH_SCHEMA;
  readonly version: string;
  /** Files by their shared names. */
  readonly jobs: readonly Job[];
}

/** What a task of a batch records. */
export interface BatchRecord {
  readonly made: Made;
}

/** A job with its files as all hosts know them. @throws UsageError for files that are not in the shared folder */
export async function sharedJob(job: Job, shared: SharedFolder): Promise<Job> {
  if (job.tmp !== undefined) {
    throw new UsageError(
      `${job.name} names a folder for temporary files (tmp): workers have their own, --tmp`,
    );
  }
  await mkdir(dirname(job.out), { recursive: true }).catch((error) => {
    throw ioError('write', job.out, error);
  });
  return { ...job, in: await shared.nameOf(job.in), out: await shared.nameOf(job.out) };
}

/** @throws UsageError for files outside of the shared folder; as `runJob` */
export async function runBatchTask(
  { jobs }: BatchJobs,
  index: number,
  folder: JobFolder,
  context: WorkerContext,
): Promise<void> {
  const job = jobs[index];
  if (!job) throw new UsageError(`the batch has ${jobs.length} jobs, and none of number ${index + 1}`);
  if (await folder.get('batch', index)) return;
  const { shared, tmp } = context;
  const from = await shared.existing(job.in);
  const to = await shared.target(posix.normalize(job.out));
  const { tmp: _, ...rest } = job;
  const own = { ...rest, in: from, out: to, ...(tmp !== undefined && !('by' in job) && { tmp }) } as Job;
  const made = await runJob(await context.sorter(), own, context.memory, fileContext(context));
  await folder.put('batch', index, { made });
}
