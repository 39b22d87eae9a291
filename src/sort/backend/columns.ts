import type { Dtype } from '../../keys/dtype.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import type { Column } from '../model/column.js';
import type { ColumnKernels } from './column-kernels.js';
import type { ColumnVerifier } from './column-verifier.js';

/** A column in host memory, with the kernels and the verifier for it. */
export interface HostColumnAccess {
  readonly keys: Column;
  readonly kernels: ColumnKernels;
  readonly verifier: ColumnVerifier;
}

/** The columns of one operation, including its temporary columns, which it releases at its end. */
export interface Columns {
  readonly kernels: ColumnKernels;
  /** Verifies results in the memory of the column kernels. */
  readonly verifier: ColumnVerifier;

  /**
   * Allocates a column until the end of the operation.
   *
   * @throws MemoryError when memory runs out
   */
  temporary(dtype: Dtype, n: number): Column;

  /**
   * Returns the column in memory that column kernels can read.
   *
   * @throws MemoryError when the copy does not fit in memory
   */
  bindInput(from: Column): MaybePromise<Column>;

  /** Lets `write` fill a column in memory that column kernels can write, and copies the result to `to`. */
  bindOutput(to: Column, write: (to: Column) => MaybePromise<void>): MaybePromise<void>;

  /** Copies the first `to.n` keys of `from`, a temporary column, to `to`. */
  copy(from: Column, to: Column): Promise<void>;

  /** Whether the device lacks doubles, which some operations need for keys of this dtype. */
  lacksDoubles(dtype: Dtype): boolean;

  /** Waits, and returns the keys in host memory with the kernels and the verifier for it. */
  copyToHost(keys: Column): Promise<HostColumnAccess>;

  /**
   * Whether it pays to select the first keys of n before they are sorted.
   *
   * @param longest length of the longest segment that keys are selected from; default n
   */
  prefersSelect(n: number, longest?: number): boolean;

  /**
   * Whether one pass can select the first k keys of segments of at most `longest` keys, and whether that pays
   * with n keys in total.
   */
  prefersShortSelect(n: number, longest: number, k: number): boolean;

  /** Schedules a flush of the queue. */
  flush(): void;

  /**
   * Waits for everything that was enqueued.
   *
   * @throws TimeoutError when the timeout passed
   * @throws DeviceLostError when the device failed
   * @throws MemoryError when the driver ran out of memory
   */
  finish(): Promise<void>;

  /**
   * Checks the transfers, after the wait.
   *
   * @throws MismatchError when source and destination of a transfer differ
   */
  check(): Promise<void>;

  /** Releases the temporary columns. Can be called twice. */
  release(): void;
}
