import type { DeviceInfo } from '../../device/platform/platform.js';
import { type ClsortError, UnsupportedError } from '../../util/errors.js';
import type { SortJob } from '../model/job.js';
import type { SortSettings } from '../model/options.js';
import type { Plan, PlanRequest } from '../model/plan.js';
import type { Outcome } from '../model/report.js';
import type { ColumnMemory } from '../transfer/column-memory.js';
import type { Columns } from './columns.js';

/** A sort whose commands are all enqueued. */
export interface PendingSort {
  /** Returns the outcome of the sort, or the reason why its result must not be used. Call it after the wait. */
  outcome(): Promise<Outcome | string>;
  /** Releases the memory that the sort has borrowed. Can be called twice. */
  release(): void;
}

/** Sorts on the host or on one open device. */
export interface Backend {
  /** Device that the backend sorts on; undefined for the host engine. */
  readonly info: DeviceInfo | undefined;
  readonly memory: ColumnMemory;
  /** Whether the device has dedicated memory, separate from host memory. */
  readonly hasDedicatedMemory: boolean;
  /** Whether the device was abandoned after a failure. */
  readonly lost: boolean;
  /** Whether concurrent calls on host arrays pay, because their transfers and sorts overlap. */
  readonly overlaps: boolean;

  /**
   * Returns the plans for a request, best first. Each later plan is the fallback of those before it.
   *
   * @throws UnsupportedError when no algorithm supports the request
   * @throws UsageError when a parameter does not fit the algorithm
   */
  plans(request: PlanRequest): Iterable<Plan>;

  /** Returns the most keys that can be sorted at once. */
  chunkLimit(request: PlanRequest): number;

  /** Whether the variant of a plan has not failed repeatedly. */
  trusts(plan: Plan): boolean;

  /** Counts an unusable result of the plan's variant. */
  distrust(plan: Plan): void;

  /**
   * Compiles the programs of a plan, once, and at the same time those that verify its sort.
   *
   * @param verified whether the sort has segments; undefined if it is not verified
   * @throws BuildError when they do not compile
   * @throws MismatchError when the variant failed its self-test
   * @throws UnsupportedError when the compiled algorithm cannot run the plan
   */
  prepare(plan: Plan, verified?: { readonly bySegments: boolean }): Promise<void>;

  /** Whether `prepare` has nothing left to compile or to check. */
  isReady(plan: Plan): boolean;

  /**
   * Runs one round of the tests of variants in use that were deferred: those that stress the device.
   *
   * @returns whether more are due
   * @throws MismatchError when a variant failed, which is not used again
   * @throws DeviceLostError, MemoryError when the device failed
   */
  runDueTest(): Promise<boolean>;

  /** Whether an earlier process has compiled and tested the variant of a plan, so that `prepare` takes little time. */
  wasPrepared(plan: Plan): boolean;

  /** Whether a call of this kind ended on the device, in this process or an earlier one. */
  hasMade(kind: string): boolean;

  /** Records that a call of this kind has ended on the device. */
  recordMade(kind: string): void;

  /**
   * Enqueues a sort by a plan of this backend, or by a plan of the host engine.
   *
   * @throws the errors of `prepare`
   * @throws MemoryError when memory runs out
   * @throws DeviceLostError when the device failed
   * @throws TimeoutError when the timeout passed
   * @throws AbortedError when the signal is aborted
   */
  sort(plan: Plan, job: SortJob): Promise<PendingSort>;

  /**
   * Enqueues a sort by a plan that is ready, if nothing has to be waited for.
   *
   * @returns undefined if it must be enqueued by `sort`
   * @throws MemoryError, DeviceLostError as `sort` does
   */
  sortNow(plan: Plan, job: SortJob): PendingSort | undefined;

  /** Returns the columns of one operation. */
  columns(settings: SortSettings): Columns;
}

/** Context in which a call runs. */
export interface CallContext {
  readonly backend: Backend;
  readonly settings: SortSettings;
  /** Receives warnings if the settings have no `onWarning`. */
  readonly onWarning: (warning: ClsortError) => void;
}

/** Properties of a call that a session needs. */
export interface SessionCall {
  /**
   * Whether the call can be repeated after the device was lost. It must only use host memory, and must not
   * yet have overwritten its input.
   */
  readonly again: boolean;
  /** Receives warnings; default: the callback of the session. */
  readonly settings?: Pick<SortSettings, 'onWarning'>;
}

/** Keeps a backend usable for successive calls. */
export interface Session {
  readonly backend: Backend;

  /**
   * Runs a call, or the first half of one. If the device is lost and `call.again` is set, reopens the device
   * and repeats the call.
   *
   * @returns the result of `use`
   * @throws the error of `use`
   * @throws DeviceLostError when the device cannot be reopened
   */
  run<T>(use: (backend: Backend) => Promise<T>, call: SessionCall): Promise<T>;

  /** Runs a half of a call on `backend`, without repeating it. */
  complete<T>(backend: Backend, use: () => Promise<T>, call: SessionCall): Promise<T>;

  /** Registers a callback for when tests of a variant become due. They run by `runDueTest`. */
  onDueTest(callback: () => void): void;

  /** Registers a callback for when a device is abandoned: its memory is lost. */
  onGiveUp(callback: () => void): void;

  /** Waits for pending work and releases everything. */
  close(): Promise<void>;
}

/**
 * Returns the plan that is tried first.
 *
 * @throws UnsupportedError, UsageError
 */
export function firstPlan(backend: Backend, request: PlanRequest, maxChunk = Number.POSITIVE_INFINITY): Plan {
  const { n } = request;
  const chunk = Math.min(maxChunk, backend.chunkLimit(request));
  for (const plan of backend.plans({ ...request, n: Math.min(n, chunk) })) {
    if (plan.engine === 'host' || chunk >= n) return { ...plan, n };
    return { ...plan, n, chunk, reason: `${plan.reason}, in chunks that fit the device` };
  }
  throw new UnsupportedError('cannot plan the sort: no algorithm is available');
}
