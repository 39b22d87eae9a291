/** Status of a job from its folder or from Redis, and cancellation. */

import { IoError } from '../util/errors.js';
import { VERSION } from '../util/package.js';
import { acquireCoordinatorLock } from './coordinator-lock.js';
import { assertId, type JobFolder } from './job-folder.js';
import { STAGES } from './job-runner.js';
import {
  assertQueue,
  cancelKey,
  entryOf,
  type JobEntry,
  jobsKey,
  PREFIX,
  plainText,
  presentWorkers,
  queueName,
  type WorkerEntry,
  workersKey,
} from './queue-names.js';
import { connect, loadBullmq } from './redis.js';
import { readJob, tasksOf } from './run-task.js';
import { SORT_SCHEMA } from './sort-job.js';

/** Progress of a stage; `tasks` is undefined while unknown. */
export interface StageStatus {
  readonly stage: string;
  readonly done: number;
  readonly tasks: number | undefined;
}

export interface FolderStatus {
  readonly id: string;
  readonly out: string;
  readonly stages: readonly StageStatus[];
}

/**
 * Returns the status of a job from its folder.
 *
 * @throws IoError when it cannot be read
 * @throws UsageError when the job is of another version
 */
export async function folderStatus(folder: JobFolder): Promise<FolderStatus> {
  const job = await readJob(folder);
  const { id } = folder;
  if (job.schema !== SORT_SCHEMA) {
    const stage = { stage: 'batch', done: (await folder.done('batch')).size, tasks: job.jobs.length };
    return { id, out: `${job.jobs.length} jobs`, stages: [stage] };
  }
  const stages: StageStatus[] = [];
  for (const stage of STAGES) {
    const tasks = await tasksOf(job, folder, stage).catch(() => undefined);
    stages.push({ stage, done: (await folder.done(stage)).size, tasks });
  }
  return { id, out: job.out, stages };
}

/** Status of a job in Redis, and its active workers. */
export interface RedisStatus {
  readonly job: JobEntry | undefined;
  readonly workers: readonly (WorkerEntry & { readonly name: string })[];
}

/**
 * Returns the status of a job from Redis.
 *
 * @throws IoError when Redis does not answer
 * @throws UsageError when the ID or the queue name is invalid
 */
export async function redisStatus(url: URL, queue: string, id: string): Promise<RedisStatus> {
  assertId(id);
  assertQueue(queue);
  const client = await connect(url);
  try {
    const job = entryOf<JobEntry>(await client.hget(jobsKey(queue), id));
    const workers = presentWorkers(await client.hgetall(workersKey(queue)));
    return {
      job: job && { ...job, out: plainText(job.out), stage: plainText(job.stage), host: plainText(job.host) },
      workers,
    };
  } finally {
    client.disconnect();
  }
}

/** Seconds that the mark of a cancelled job is kept, for workers that are busy or away. */
const RETENTION_SECONDS = 24 * 3600;

/**
 * Removes the tasks of a job from the queue, and signals workers to abort running ones.
 *
 * @returns the number of removed tasks
 * @throws IoError when Redis does not answer
 */
export async function cancelInRedis(url: URL, queue: string, id: string): Promise<number> {
  assertId(id);
  assertQueue(queue);
  const { Queue } = await loadBullmq();
  const client = await connect(url);
  const tasks = new Queue(queueName(queue), { connection: client, prefix: PREFIX, skipVersionCheck: true });
  tasks.on('error', () => undefined);
  try {
    await client.set(cancelKey(queue, id), VERSION, 'EX', RETENTION_SECONDS);
    let removed = 0;
    for (const job of await tasks.getJobs(['wait', 'delayed', 'failed', 'prioritized'])) {
      if (job?.data?.job !== id) continue;
      await job.remove().then(
        () => removed++,
        () => undefined, // a worker has just taken it
      );
    }
    return removed;
  } finally {
    await tasks.close().catch(() => undefined);
    client.disconnect();
  }
}

/**
 * Cancels a job. Its coordinator removes the state, or this process if there is no coordinator.
 *
 * @returns whether the state has already been removed
 */
export async function cancelInFolder(folder: JobFolder): Promise<boolean> {
  await folder.cancel();
  const release = await acquireCoordinatorLock(folder).catch((error) => {
    if (error instanceof IoError) throw error;
    return undefined;
  });
  if (!release) return false;
  await release();
  await folder.remove();
  return true;
}
