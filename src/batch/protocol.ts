/** What a batch and the process that works for it on one device tell each other. */
import type { FileReport } from '../io/sort-file.js';
import type { WorkSpan } from '../io/spans.js';
import type { Progress } from '../sort/api/options.js';
import { ClsortError, errorOfCode } from '../util/errors.js';
import type { ChecksummedState, FileState } from './file-state.js';
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
  | { readonly is: 'refused'; readonly error: SerializedError }
  | { readonly is: 'warning'; readonly message: string }
  | { readonly is: 'aside'; readonly path: string; readonly change: 'add' | 'delete' }
  | { readonly is: 'progress'; readonly id: number; readonly progress: Progress }
  | { readonly is: 'done'; readonly id: number; readonly completion: JobCompletion }
  | { readonly is: 'error'; readonly id: number; readonly error: SerializedError };

/** What came of a job that went well. */
export interface JobCompletion {
  readonly report: FileReport;
  /** Of what are files, as they were before the job and are after it; a list of several inputs. */
  readonly input?: ChecksummedState | readonly ChecksummedState[];
  readonly output?: ChecksummedState;
  readonly counts?: FileState;
  /** What took when how long, as far as the sort tells. */
  readonly spans: readonly WorkSpan[];
  /** When it began, in milliseconds since 1970. */
  readonly began: number;
  readonly seconds: number;
}

/** An error as it is told: what the system calls it is kept, since it says whether another try is worth it. */
export interface SerializedError {
  readonly code: string | undefined;
  readonly message: string;
  readonly system: string | undefined;
}

export function serializeError(error: unknown): SerializedError {
  const { message, stack, cause } = error instanceof Error ? error : new Error(String(error));
  const system = (cause as NodeJS.ErrnoException | undefined)?.code;
  if (error instanceof ClsortError) return { code: error.code, message, system };
  return { code: undefined, message: stack ?? message, system }; // a defect of ours: where it is tells more
}

export function deserializeError({ code, message, system }: SerializedError): Error {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0; // a stack of this process says nothing, and takes longer than all the rest
  try {
    const cause = system === undefined ? {} : { cause: Object.assign(new Error(system), { code: system }) };
    return code === undefined ? new Error(message) : errorOfCode(code, message, cause);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
