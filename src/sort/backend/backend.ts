import type { DeviceInfo } from '../../device/platform.js';
import type { StageTime } from '../../device/profile.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import type { SortSettings } from '../api/options.js';
import type { ColumnMemory } from '../transfer/column-memory.js';
import type { Verified } from '../verification/verify.js';
import type { Columns } from './columns.js';
import type { HostJob, SortJob } from './job.js';
import type { Plan, PlanRequest } from './plan.js';

/** How one sort went. */
export interface Outcome {
  readonly plan: Plan;
  readonly stages: readonly StageTime[];
  readonly verified?: Verified;
  /** Pieces that were sorted by themselves. */
  readonly chunks?: number;
}

/** A sort whose commands are all enqueued. */
export interface PendingSort {
  /** To be asked after the wait: how it went, or in words why its result must not be used. */
  outcome(): MaybePromise<Outcome | string>;
  /** Gives back what the sort has borrowed. May be called twice. */
  release(): void;
}

/** Who sorts: the host, or a device that is open. */
export interface Backend {
  /** What it sorts on; undefined for the host. */
  readonly info: DeviceInfo | undefined;
  readonly memory: ColumnMemory;
  /** Has its device memory of its own, beside that of the host? */
  readonly hasDedicatedMemory: boolean;
  /** Its device was given up. */
  readonly lost: boolean;
  /** Is it worth making several calls on arrays of the host at a time, whose transfers and sorts overlap then? */
  readonly overlaps: boolean;
  /** Do other devices of its platform reach directly what is pinned for it? */
  readonly sharesPinned: boolean;

  /**
   * Ways to sort, best first; each later one is what to fall back to when one fails.
   *
   * @throws UnsupportedError, UsageError when what was asked for cannot be done
   */
  plans(request: PlanRequest): Iterable<Plan>;

  /** Most keys that it can sort at a time. */
  chunkLimit(request: PlanRequest): number;

  /** Has a variant not failed time and again? */
  trusts(plan: Plan): boolean;

  /** Did the variant gain by what it looks for, the last times? Asked once a sort, where another plan would do as well. */
  pays(plan: Plan): boolean;

  /** Counts a result that could not be used. */
  distrust(plan: Plan): void;

  /**
   * Compiles what a plan needs, once.
   *
   * @throws BuildError; MismatchError when the variant is not certified; UnsupportedError when the compiled
   *   algorithm cannot run the plan
   */
  prepare(plan: Plan): Promise<void>;

  /** Is there nothing left for `prepare` to do, nor to find out? */
  isReady(plan: Plan): boolean;

  /**
   * Enqueues a sort by a plan of its own, or by a plan of the host engine.
   *
   * @throws as `prepare`; MemoryError, DeviceLostError, TimeoutError, AbortedError
   */
  sort(plan: Plan, job: SortJob): MaybePromise<PendingSort>;

  /** In how many parts a job is best sorted while its data are on the way; 1 for as a whole. */
  partCount(job: HostJob): number;

  /**
   * Sorts in parts while the data are on the way, and waits for it.
   *
   * @param plan of a part
   * @returns undefined when it went wrong in a way that a sort as a whole may not
   */
  sortInParts(plan: Plan, job: HostJob): Promise<Outcome | undefined>;

  /** Where an operation works. */
  columns(settings: SortSettings): Columns;
}

/** What a keeper has to know of a call. */
export interface SessionCall {
  /**
   * May it be run once more when the device was lost? It reads and writes only memory of the host then, and has
   * not begun to write what it reads.
   */
  readonly again: boolean;
  /** Who gets warnings, if not who opened the device. */
  readonly settings?: Pick<SortSettings, 'onWarning'>;
}

/** Keeps a backend in order, for those who use it one after the other. */
export interface Session {
  readonly backend: Backend;

  /**
   * Runs a call, or the first half of one.
   *
   * @throws what `use` throws; DeviceLostError when the device cannot be opened again
   */
  run<T>(use: (backend: Backend) => MaybePromise<T>, call: SessionCall): MaybePromise<T>;

  /** Runs the second half of a call that `run` began on `backend`. */
  complete<T>(backend: Backend, use: () => MaybePromise<T>, call: SessionCall): MaybePromise<T>;

  /** Calls `then` when a device is given up: what it held is gone. */
  onGiveUp(callback: () => void): void;

  /** Waits for what is running, and gives everything back. */
  close(): Promise<void>;
}
