/** Sorts that are checked: self-tests, searches for parameters, benchmarks and stress tests make them. */
import type { Queue } from '../device/queue.js';
import { type Algorithm, type SortWork, whyGaveUp } from './algorithm.js';
import { enqueueWithScratch } from './run.js';

/** What a trial sorts: keys and values lie in their buffers, or are on their way there in the same queue. */
export type TrialWork = Omit<SortWork, 'scratch' | 'onStage'>;

/** How the result of a sort is checked: by commands around it, and a verdict after the wait. */
export interface Check {
  /** Enqueues what has to look at the input. */
  before?(): void;
  /** Enqueues what has to look at the output. */
  after(): void;
  /** What is wrong with the result; undefined when it is right. */
  wrong(): string | undefined;
  /** Gives back what the check holds, when the trial is released. */
  release?(): void;
}

/** A sort whose commands are enqueued; to be asked after the wait. */
export interface Trial {
  /** Why it did, if so: the result does not count then. */
  readonly gaveUp: string | undefined;
  /** What is wrong with the result; undefined when it is right. */
  wrong(): string | undefined;
  /** Gives the scratch back, and what the check holds; to be called after the wait. */
  release(): void;
}

/** A place that is never written must not look right by what was there before. */
const POISON = 0xa5a5a5a5;

/**
 * Enqueues a sort with what checks it. The output is poisoned before, unless it is the input.
 *
 * @throws MemoryError when the scratch cannot be had; the check is not released then
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

/** What came of a trial: neither, when the sort is right. */
export interface TrialOutcome {
  readonly gaveUp?: string;
  readonly wrong?: string;
}

/**
 * Sorts, waits and checks.
 *
 * @param timeout seconds; default: wait
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
