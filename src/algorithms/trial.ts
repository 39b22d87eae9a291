/** Checked sorts, for self-tests, parameter searches, benchmarks and stress tests. */
import type { Queue } from '../device/queue/queue.js';
import { type Algorithm, type SortWork, whyGaveUp } from './algorithm.js';
import { enqueueWithScratch } from './run.js';

/** The input of a trial. Keys and values are in their buffers, or are being written by the same queue. */
export type TrialWork = Omit<SortWork, 'scratch' | 'onStage'>;

/** Check of a sort's result: commands around the sort, and a verdict after the wait. */
export interface Check {
  /** Enqueues the commands that read the input. */
  before?(): void;
  /** Enqueues the commands that read the output. */
  after(): void;
  /** Describes the error in the result; undefined if it is correct. */
  wrong(): string | undefined;
  /** Releases the check's resources when the trial is released. */
  release?(): void;
}

/** A sort whose commands are enqueued. Read its results after the wait. */
export interface Trial {
  /** Why the sort gave up, if it did; the result is invalid then. */
  readonly gaveUp: string | undefined;
  /** Describes the error in the result; undefined if it is correct. */
  wrong(): string | undefined;
  /** Releases the scratch and the check; call it after the wait. */
  release(): void;
}

/** Poison value: a position that is never written must not look correct by its previous content. */
const POISON = 0xa5a5a5a5;

/**
 * Enqueues a sort with its check. The output is poisoned first, unless it is the input.
 *
 * @throws MemoryError when the scratch cannot be allocated; the check is not released then
 */
export function enqueueTrial(algorithm: Algorithm, queue: Queue, work: TrialWork, check: Check): Trial {
  const { n, input, output, codec } = work;
  check.before?.();
  if (output !== input) {
    const bytes = Math.min(output.bytes, n * codec.dtype.bytes + 3);
    queue.fill(output, POISON, { bytes: bytes - (bytes % 4) });
  }
  const status = new Uint32Array(1);
  const enqueued = enqueueWithScratch(algorithm, queue, work);
  try {
    if (enqueued.status) queue.read(enqueued.status, status);
    check.after();
  } catch (error) {
    enqueued.release();
    throw error;
  }
  return {
    get gaveUp() {
      return whyGaveUp(status[0] ?? 0);
    },
    wrong: () => check.wrong(),
    release: () => {
      enqueued.release();
      check.release?.();
    },
  };
}

/** Result of a trial; both fields are undefined if the sort is correct. */
export interface TrialOutcome {
  readonly gaveUp?: string;
  readonly wrong?: string;
}

/**
 * Sorts, waits and checks.
 *
 * @param timeout milliseconds; default: no limit
 * @throws TimeoutError, DeviceLostError, MemoryError
 */
export async function runTrial(
  algorithm: Algorithm,
  queue: Queue,
  work: TrialWork,
  check: Check,
  timeout?: number,
): Promise<TrialOutcome> {
  const trial = enqueueTrial(algorithm, queue, work, check);
  try {
    await queue.finish(timeout);
    const { gaveUp } = trial;
    if (gaveUp !== undefined) return { gaveUp };
    const wrong = trial.wrong();
    return wrong === undefined ? {} : { wrong };
  } finally {
    trial.release();
  }
}
