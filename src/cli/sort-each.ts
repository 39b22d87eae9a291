/** Several files, each sorted separately, as a batch without a manifest. */
import { runBatch } from '../batch/batch.js';
import type { BatchEvent } from '../batch/events.js';
import { messageOf } from '../batch/failures.js';
import type { Job } from '../batch/jobs.js';
import { defaultParallel } from '../batch/runner.js';
import type { FileReport } from '../io/file-sort/file-job.js';
import { AbortedError } from '../util/errors.js';
import { type Console, say } from './console.js';
import { readBudget } from './memory-options.js';
import type { SortArguments } from './options/sort.js';
import type { ShownWork } from './run-with-sorter.js';
import type { SortJob } from './sort-jobs.js';

/** How progress is shown, and what to do with each report, in the order of the jobs. */
interface SortEach {
  readonly shown: ShownWork;
  readonly done: (report: FileReport, out: string) => void;
}

/**
 * Sorts files concurrently. A failure does not stop the other files.
 *
 * @returns the first failure, after all files have ended; the other failures are printed
 */
export async function sortEach(
  sorts: readonly SortJob[],
  args: Pick<SortArguments, 'device' | 'memory'>,
  { shown: { bar, onWarning }, done }: SortEach,
  console: Console,
): Promise<unknown> {
  const devices = args.device && (await import('./device-arguments.js')).readDeviceList(args.device);
  const memory = readBudget(args);
  const jobs = sorts.map(asJob);
  const { signal, temporaryFiles } = console;
  let ended = 0;
  const reports = new Map<Job, FileReport>();
  const { results } = await runBatch(
    { jobs },
    {
      devices: devices ?? ['auto'],
      ...{ journal: undefined, hashes: false, force: true, failFast: false, keepAll: true },
      ...{ parallel: defaultParallel(), retries: 1, timeout: undefined, memory, signal, temporaryFiles },
      onEvent: (event: BatchEvent) => {
        if (event.is === 'warning') onWarning(event);
        if (event.is === 'end') {
          ended++;
          if (event.result.outcome === 'ok') reports.set(event.result.job, event.result.report);
        }
        bar.update('files', ended, jobs.length);
      },
    },
  );
  bar.clear();
  const failures: unknown[] = [];
  for (const result of results) {
    if (result.outcome === 'ok') done(reports.get(result.job) ?? result.report, result.job.out);
    else if (result.outcome === 'error') failures.push(result.error);
  }
  for (const failure of failures.slice(1)) say(console, `clsort: ${messageOf(failure)}`);
  return (
    failures[0] ?? (signal.aborted ? new AbortedError('interrupted', { cause: signal.reason }) : undefined)
  );
}

/** Creates a batch job without its undefined fields. */
const asJob = ({ in: inputs, job }: SortJob): Job =>
  Object.fromEntries(
    Object.entries({ ...job, name: [inputs].flat().join(', ') }).filter(([, value]) => value !== undefined),
  ) as unknown as Job;
