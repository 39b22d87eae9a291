/** Several files, each sorted separately, as a batch without a manifest. */
import { runBatch } from '../batch/batch.js';
import type { BatchEvent } from '../batch/events.js';
import { messageOf } from '../batch/failures.js';
import type { Job } from '../batch/jobs.js';
import { defaultParallel } from '../batch/runner.js';
import type { FileReport } from '../io/file-sort/file-job.js';
import { AbortedError } from '../util/errors.js';
import { type Console, say } from './console.js';
import type { ProgressBar } from './progress-bar.js';

export interface SortEach {
  /** Device specs, as for `--device`. */
  readonly devices: readonly string[];
  /** Total memory budget in bytes. */
  readonly memory: number;
  readonly bar: ProgressBar;
  readonly onWarning: (warning: Pick<Error, 'message'>) => void;
  /** Called for each sorted file, in the order of the jobs. */
  readonly onDone: (report: FileReport, job: Job) => void;
}

/**
 * Sorts files concurrently. A failure does not stop the other files.
 *
 * @returns the first failure, after all files have ended; the other failures are printed
 */
export async function sortEach(
  jobs: readonly Job[],
  { devices, memory, bar, onWarning, onDone }: SortEach,
  console: Console,
): Promise<unknown> {
  const { signal, temporaryFiles } = console;
  let ended = 0;
  const reports = new Map<Job, FileReport>();
  const { results } = await runBatch(
    { jobs },
    {
      ...{ devices, journal: undefined, force: true, failFast: false, keepAll: true },
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
    if (result.outcome === 'ok') onDone(reports.get(result.job) ?? result.report, result.job);
    else if (result.outcome === 'error') failures.push(result.error);
  }
  for (const failure of failures.slice(1)) say(console, `clsort: ${messageOf(failure)}`);
  return (
    failures[0] ?? (signal.aborted ? new AbortedError('interrupted', { cause: signal.reason }) : undefined)
  );
}
