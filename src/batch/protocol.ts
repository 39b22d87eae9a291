/** Messages between a batch and a worker process. */
import type { FileReport } from '../io/file-sort/file-job.js';
import type { WorkSpan } from '../io/streams/spans.js';
import type { Progress } from '../sort/model/options.js';
import { ClsortError, errorOfCode } from '../util/errors.js';
import type { ChecksummedState, FileState } from './file-state.js';
import type { Job } from './jobs.js';

export type ToChild =
  /** `idleBytes`: maximum size of idle buffers, in bytes. `hashes`: whether completions have the states of files. */
  | { readonly is: 'open'; readonly device: string; readonly idleBytes: number; readonly hashes: boolean }
  | { readonly is: 'run'; readonly id: number; readonly job: Job; readonly memory: number }
  /** Cancels a job, which is answered by an error. */
  | { readonly is: 'cancel'; readonly id: number }
  | { readonly is: 'close' };

export type FromChild =
  | { readonly is: 'opened' }
  | { readonly is: 'refused'; readonly error: SerializedError }
  | { readonly is: 'warning'; readonly message: string }
  | { readonly is: 'temporary'; readonly path: string; readonly change: 'add' | 'delete' }
  | { readonly is: 'progress'; readonly id: number; readonly progress: Progress }
  | { readonly is: 'done'; readonly id: number; readonly completion: JobCompletion }
  | { readonly is: 'error'; readonly id: number; readonly error: SerializedError };

/** Result of a successful job. */
export interface JobCompletion {
  readonly report: FileReport;
  /** States of regular files before and after the job, if they are recorded; a list for several inputs. */
  readonly input?: ChecksummedState | readonly ChecksummedState[];
  readonly output?: ChecksummedState;
  readonly counts?: FileState;
  /** Timed spans, as far as the sort reports them. */
  readonly spans: readonly WorkSpan[];
  /** Start in milliseconds since 1970. */
  readonly began: number;
  readonly seconds: number;
}

/** An error in serialized form, with its system error code, which decides about retries. */
export interface SerializedError {
  readonly code: string | undefined;
  readonly message: string;
  readonly system: string | undefined;
}

export function serializeError(error: unknown): SerializedError {
  const { message, stack, cause } = error instanceof Error ? error : new Error(String(error));
  const system = (cause as NodeJS.ErrnoException | undefined)?.code;
  if (error instanceof ClsortError) return { code: error.code, message, system };
  return { code: undefined, message: stack ?? message, system }; // an internal error: the stack is needed
}

export function deserializeError({ code, message, system }: SerializedError): Error {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0; // the stack of this process is meaningless, and dominates the cost
  try {
    const cause = system === undefined ? {} : { cause: Object.assign(new Error(system), { code: system }) };
    return code === undefined ? new Error(message) : errorOfCode(code, message, cause);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
