import { type FileContext, type FileReport, sortFile } from '../io/sort-file.js';
import { sortRecordFile } from '../io/sort-record-file.js';
import { Sorter } from '../sort/api/sorter.js';
import type { Batch, Job } from './jobs.js';

/** What came of one job. */
export type JobResult =
  | { readonly job: Job; readonly outcome: 'ok'; readonly report: FileReport; readonly seconds: number }
  | { readonly job: Job; readonly outcome: 'error'; readonly error: unknown; readonly seconds: number }
  | { readonly job: Job; readonly outcome: 'skipped' };

export interface BatchContext extends FileContext {
  /** Gets each result as it lands. */
  readonly onResult: (result: JobResult) => void;
}

/**
 * Runs the jobs of a batch, on each device one after the other, on different devices at the same time.
 *
 * A job that fails does not keep the others from running; after `signal` those not begun are skipped.
 *
 * @param devices share the jobs that name none
 * @returns results in the order of the jobs
 * @throws NoDeviceError and the like when a device that is needed cannot be opened; then nothing has run
 */
export async function runBatch(
  { jobs }: Batch,
  devices: readonly string[],
  context: BatchContext,
): Promise<JobResult[]> {
  const results = new Map<Job, JobResult>();
  const lanes = await openLanes(jobs, devices, context);
  const shared = jobs.filter(({ device }) => device === undefined);
  try {
    await Promise.all(
      lanes.map(async ({ sorter, own, shares }) => {
        for (let job = own.shift(); job; job = own.shift()) await runOne(sorter, job);
        for (let job = shares && shared.shift(); job; job = shared.shift()) await runOne(sorter, job);
      }),
    );
  } finally {
    await Promise.all(lanes.map(({ sorter }) => sorter.close()));
  }
  return jobs.flatMap((job) => results.get(job) ?? []);

  async function runOne(sorter: Sorter, job: Job): Promise<void> {
    const result = await outcomeOf(sorter, job, context);
    results.set(job, result);
    context.onResult(result);
  }
}

interface Lane {
  readonly sorter: Sorter;
  /** Jobs that only this device does. */
  readonly own: Job[];
  /** Whether it takes jobs that name no device. */
  readonly shares: boolean;
}

async function openLanes(
  jobs: readonly Job[],
  devices: readonly string[],
  { onWarning }: FileContext,
): Promise<Lane[]> {
  const sharing = jobs.some(({ device }) => device === undefined) ? devices : [];
  const named = jobs.flatMap(({ device }) => device ?? []);
  const lanes: Lane[] = [];
  try {
    for (const device of new Set([...sharing, ...named])) {
      const sorter = await Sorter.open({ device, ...(onWarning && { onWarning }) });
      lanes.push({
        sorter,
        own: jobs.filter((job) => job.device === device),
        shares: sharing.includes(device),
      });
    }
  } catch (error) {
    await Promise.all(lanes.map(({ sorter }) => sorter.close()));
    throw error;
  }
  return lanes;
}

async function outcomeOf(sorter: Sorter, job: Job, context: FileContext): Promise<JobResult> {
  if (context.signal.aborted) return { job, outcome: 'skipped' };
  const started = performance.now();
  const seconds = () => (performance.now() - started) / 1000;
  const { name: _, device: __, ...file } = job;
  try {
    const report = await ('record' in file
      ? sortRecordFile(sorter, file, context)
      : sortFile(sorter, file, context));
    return { job, outcome: 'ok', report, seconds: seconds() };
  } catch (error) {
    return { job, outcome: 'error', error, seconds: seconds() };
  }
}
