/** Opens the job of a distributed sort: an existing one or a new one. */

import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { UsageError } from '../util/errors.js';
import { acquireCoordinatorLock } from './coordinator-lock.js';
import { idOf, JobFolder } from './job-folder.js';
import { assertJobRoom, assertSameJob, makeJob, type SortRequest } from './make-job.js';
import { SharedFolder } from './shared-folder.js';
import { SORT_SCHEMA, type SortJob } from './sort-job.js';

/** A job that this process coordinates. */
export interface OpenJob {
  readonly job: SortJob;
  readonly folder: JobFolder;
  readonly shared: SharedFolder;
  /** Whether an earlier run has created it. */
  readonly isOld: boolean;
  /** Size of all records in bytes, or of their files when that is unknown. */
  readonly bytes: number;
  /** Releases the coordinator lock. */
  release(): Promise<void>;
}

export interface JobPlace {
  /** Folder that all hosts share; default the folder of the output. */
  readonly workersFolder?: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Opens the job of a sort and acquires its coordinator lock.
 *
 * @throws UsageError when another process coordinates the job, or the output belongs to a different job
 * @throws InputError when an input has changed since the job was created
 * @throws IoError when there is not enough disk space
 * @throws the errors of `makeJob`
 */
export async function openSortJob(request: SortRequest, place: JobPlace): Promise<OpenJob> {
  const { out } = request;
  const { workersFolder = dirname(resolve(out)), signal } = place;
  const shared = await SharedFolder.open(workersFolder);
  const asked = await makeJob(request, shared, signal);
  const folder = await JobFolder.make(shared, idOf(asked.out));
  const target = await shared.target(asked.out);
  await assertOneDisk(folder, target);
  const release = await acquireCoordinatorLock(folder);
  try {
    const found = await folder.readJob<SortJob>();
    if (found) assertSort(found, folder);
    if (found)
      assertSameJob(found, asked, request, `clsort cancel ${folder.id} --workers-folder ${shared.root}`);
    const job = found ?? asked;
    const bytes = await assertJobRoom(job, folder, target);
    if (!found) await folder.writeJob(job);
    return { job, folder, shared, isOld: found !== undefined, bytes, release };
  } catch (error) {
    await release();
    // Removes the folder of a job that was never written.
    if (!(await folder.readJob().catch(() => ({})))) await folder.remove();
    throw error;
  }
}

function assertSort({ schema, version }: SortJob, { id }: JobFolder): void {
  if (schema === SORT_SCHEMA) return;
  throw new UsageError(`cannot resume job ${id}: it is not a sort but ${schema} of clsort ${version}`);
}

/** @throws UsageError when job folder and output are on different disks, since the result is renamed */
async function assertOneDisk(folder: JobFolder, out: string): Promise<void> {
  const [ours, theirs] = await Promise.all([stat(folder.path), stat(dirname(out))]);
  if (ours.dev === theirs.dev) return;
  throw new UsageError(
    `cannot move the result to ${dirname(out)}: ${folder.path} is on another file system. Pass a folder on the same ` +
      'file system with --workers-folder',
  );
}
