/** Events of a batch, for display, journal and reports. */
import type { Progress } from '../sort/model/options.js';
import type { Job } from './jobs.js';
import type { JobCompletion } from './protocol.js';

export type JobResult =
  | ({
      readonly job: Job;
      readonly outcome: 'ok';
      readonly device: string;
      readonly attempts: number;
    } & JobCompletion)
  | {
      readonly job: Job;
      readonly outcome: 'error';
      readonly error: unknown;
      readonly seconds: number;
      readonly attempts: number;
      /** Device of the last attempt; undefined when there was none. */
      readonly device?: string | undefined;
      /** Start of the last attempt, in milliseconds since 1970. */
      readonly began?: number;
    }
  /** The journal lists the job as complete, and its files have not changed. */
  | { readonly job: Job; readonly outcome: 'done' }
  | { readonly job: Job; readonly outcome: 'skipped' };

export type BatchEvent =
  | { readonly is: 'begin'; readonly job: Job; readonly device: string }
  | { readonly is: 'progress'; readonly job: Job; readonly device: string; readonly progress: Progress }
  /** A job will be retried. */
  | { readonly is: 'again'; readonly job: Job; readonly device: string; readonly error: unknown }
  | { readonly is: 'end'; readonly result: JobResult }
  | { readonly is: 'opened' | 'lost'; readonly device: string }
  | { readonly is: 'warning'; readonly message: string };

export type Listener = (event: BatchEvent) => void;
