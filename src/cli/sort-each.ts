/** Several files, each sorted by itself: as a batch without a manifest. */
import { runBatch } from '../batch/batch.js';
import type { BatchEvent } from '../batch/events.js';
import { messageOf } from '../batch/failures.js';
import type { Job } from '../batch/jobs.js';
import { defaultParallel } from '../batch/runner.js';
import type { FileReport } from '../io/sort-file.js';
import { AbortedError } from '../util/errors.js';
import { type Console, say } from './console.js';
import type { ProgressBar } from './progress-bar.js';

export interface SortEach {
  /** As --device has them. */
  readonly devices: readonly string[];
  /** Bytes that all may take together. */
  readonly memory: number;
  readonly bar: ProgressBar;
  readonly onWarning: (warning: Pick<Error, 'message'>) => void;
  /** Hears of each file that is done, in their order. */
  readonly onDone: (report: FileReport, job: Job) => void;
}

/**
 * Sorts files side by side. One that fails keeps no others from being sorted.
 *
 * @returns what the first one failed with, when all others are done; what others failed with is told
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
