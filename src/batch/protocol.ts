/** What a batch and the process that works for it on one device tell each other. */
import type { FileReport } from '../io/sort-file.js';
import type { WorkSpan } from '../io/spans.js';
import type { Progress } from '../sort/api/options.js';
import { ClsortError, errorOfCode } from '../util/errors.js';
import type { FileState, SummedState } from './file-state.js';
import type { Job } from './jobs.js';

export type ToChild =
  /** `idleBytes`: how much memory may wait for the next job. */
  | { readonly is: 'open'; readonly device: string; readonly idleBytes: number }
  | { readonly is: 'run'; readonly id: number; readonly job: Job; readonly memory: number }
  /** Ends a job early: it is answered by an error. */
  | { readonly is: 'cancel'; readonly id: number }
  | { readonly is: 'close' };

export type FromChild =
  | { readonly is: 'opened' }
  | { readonly is: 'refused'; readonly error: ToldError }
  | { readonly is: 'warning'; readonly message: string }
  | { readonly is: 'aside'; readonly aside: string; readonly change: 'add' | 'delete' }
  | { readonly is: 'progress'; readonly id: number; readonly progress: Progress }
  | { readonly is: 'done'; readonly id: number; readonly made: Made }
  | { readonly is: 'error'; readonly id: number; readonly error: ToldError };

/** What came of a job that went well. */
export interface Made {
  readonly report: FileReport;
  /** Of what are files, as they were before the job and are after it; a list of several inputs. */
  readonly input?: SummedState | readonly SummedState[];
  readonly output?: SummedState;
  readonly counts?: FileState;
  /** What took when how long, as far as the sort tells. */
  readonly spans: readonly WorkSpan[];
  /** When it began, in milliseconds since 1970. */
  readonly began: number;
  readonly seconds: number;
}

/** An error as it is told: what the system calls it is kept, since it says whether another try is worth it. */
export interface ToldError {
  readonly code: string | undefined;
  readonly message: string;
  readonly system: string | undefined;
}

export function toldError(error: unknown): ToldError {
  const { message, stack, cause } = error instanceof Error ? error : new Error(String(error));
  const system = (cause as NodeJS.ErrnoException | undefined)?.code;
  if (error instanceof ClsortError) return { code: error.code, message, system };
  return { code: undefined, message: stack ?? message, system }; // a defect of ours: where it is tells more
}

export function errorTold({ code, message, system }: ToldError): Error {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0; // a stack of this process says nothing, and takes longer than all the rest
  try {
    const cause = system === undefined ? {} : { cause: Object.assign(new Error(system), { code: system }) };
    return code === undefined ? new Error(message) : errorOfCode(code, message, cause);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
