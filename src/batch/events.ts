/** What happens in a batch, for who shows, records and reports it. */
import type { Progress } from '../sort/api/options.js';
import type { Job } from './jobs.js';
import type { JobCompletion } from './protocol.js';

/** What came of one job. */
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
      /** The device that it was tried on last; undefined where it never was. */
      readonly device?: string | undefined;
      /** When that was, in milliseconds since 1970. */
      readonly began?: number;
    }
  /** The journal says that it was done before, and nothing has changed since. */
  | { readonly job: Job; readonly outcome: 'done' }
  | { readonly job: Job; readonly outcome: 'skipped' };

export type BatchEvent =
  | { readonly is: 'begin'; readonly job: Job; readonly device: string }
  | { readonly is: 'progress'; readonly job: Job; readonly device: string; readonly progress: Progress }
  /** A job is to be tried once more. */
  | { readonly is: 'again'; readonly job: Job; readonly device: string; readonly error: unknown }
  | { readonly is: 'end'; readonly result: JobResult }
  | { readonly is: 'opened' | 'lost'; readonly device: string }
  | { readonly is: 'warning'; readonly message: string };

export type Listener = (event: BatchEvent) => void;
