/** Runs one task: its job is read from the shared folder, and its record marks it as complete. */
import { UsageError } from '../util/errors.js';
import { invalidArgument } from '../util/invalid-argument.js';
import { VERSION } from '../util/package.js';
import { BATCH_SCHEMA, type BatchJobs, runBatchTask } from './batch-job.js';
import { assertId, JobFolder } from './job-folder.js';
import { type STAGES, TASK_KINDS, type Task, type TaskKind } from './job-runner.js';
import { layoutOf } from './layout.js';
import { SORT_SCHEMA, type SortJob } from './sort-job.js';
import { sortPart } from './sort-part.js';
import { partition, type StageWork, sample, splitters } from './stages.js';
import { verifyPart } from './verify-part.js';
import type { WorkerContext } from './worker-context.js';

/**
 * Parses a task from an untrusted message.
 *
 * @throws UsageError when it is invalid
 */
export function taskOf(sent: unknown): Task {
  const { job, kind, index } = (sent ?? {}) as Record<string, unknown>;
  assertId(job);
  if (!TASK_KINDS.includes(kind as TaskKind)) {
    throw invalidArgument('the kind of a task', `one of ${TASK_KINDS.join(', ')}`, kind);
  }
  if (!Number.isSafeInteger(index) || (index as number) < 0) {
    throw invalidArgument('the index of a task', 'a whole number of 0 or more', index);
  }
  return { job, kind: kind as TaskKind, index: index as number };
}

/**
 * Runs a task, unless it has a record.
 *
 * @throws UsageError when the job is of another version or has no such task
 * @throws the error of the task
 */
export async function runTask({ job: id, kind, index }: Task, context: WorkerContext): Promise<void> {
  const folder = await JobFolder.find(context.shared, id);
  const job = await readJob(folder);
  if (kind === 'batch') return runBatchTask(batchOf(job, id), index, folder, context);
  if (await folder.get(kind, index)) return;
  const work: StageWork = { job: sortOf(job, id), folder, context };
  if (kind === 'sample') return sample(work, index);
  if (kind === 'splitters') return splitters(work);
  if (kind === 'partition') return partition(work, index);
  if (kind === 'sort') return sortPart(work, index);
  return verifyPart(work, index);
}

/**
 * Reads the description of a job.
 *
 * @throws UsageError when it is missing or of another version of clsort
 * @throws IoError when it cannot be read
 */
export async function readJob(folder: JobFolder): Promise<SortJob | BatchJobs> {
  const job = await folder.readJob<SortJob | BatchJobs>();
  if (!job) throw new UsageError(`cannot read job ${folder.id}: it has not been written, or has ended`);
  if (job.version === VERSION) return job;
  throw new UsageError(
    `cannot run job ${folder.id}: it belongs to clsort ${job.version}, and this is ${VERSION}. Install clsort@${job.version} here`,
    { details: { job: job.version, worker: VERSION } },
  );
}

/** @throws UsageError when the job is not a batch */
export function batchOf(job: SortJob | BatchJobs, id: string): BatchJobs {
  if (job.schema === BATCH_SCHEMA) return job;
  throw new UsageError(`cannot run job ${id} as a batch: it is a sort`);
}

/** @throws UsageError when the job is not a sort */
export function sortOf(job: SortJob | BatchJobs, id: string): SortJob {
  if (job.schema === SORT_SCHEMA) return job;
  throw new UsageError(`cannot run job ${id} as a sort: it is a batch`);
}

/** Returns the number of tasks of a stage. */
export async function tasksOf(
  job: SortJob,
  folder: JobFolder,
  stage: (typeof STAGES)[number],
): Promise<number> {
  if (stage === 'splitters') return 1;
  if (stage === 'sample' || stage === 'partition') return job.shards.length;
  return (await layoutOf(job, folder)).parts.length;
}
