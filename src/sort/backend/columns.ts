import type { Dtype } from '../../keys/dtype.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import type { ColumnKernels } from '../operations/column-kernels.js';
import type { ColumnVerifier } from '../operations/column-verifier.js';
import type { Column } from './column.js';

/** A column of the host, and what works there. */
export interface HostColumnAccess {
  readonly keys: Column;
  readonly kernels: ColumnKernels;
  readonly verifier: ColumnVerifier;
}

/** The columns of one operation, temporary ones among them, which end with it. */
export interface Columns {
  readonly kernels: ColumnKernels;
  /** Of results where steps make them. */
  readonly verifier: ColumnVerifier;

  /** A column until the end of the operation. @throws MemoryError */
  temporary(dtype: Dtype, n: number): Column;

  /** The column where steps can read it. @throws MemoryError */
  bindInput(from: Column): MaybePromise<Column>;

  /** Lets `write` fill a column where steps can, and brings the result to where `to` is. */
  bindOutput(to: Column, write: (to: Column) => MaybePromise<void>): MaybePromise<void>;

  /** Copies as many keys as `to` has from the front of `from`, a temporary column. */
  copy(from: Column, to: Column): Promise<void>;

  /** Are there no doubles, which some operations need for such keys? */
  lacksDoubles(dtype: Dtype): boolean;

  /** The keys in host memory, after a wait, and the steps and checks that work there. */
  copyToHost(keys: Column): Promise<HostColumnAccess>;

  /** Does it pay to select the first keys of so many before they are sorted? */
  prefersSelect(n: number): boolean;

  /** Can the first k keys of segments, none longer than that, be selected in one go, and does it pay with n keys in all? */
  prefersShortSelect(n: number, longest: number, k: number): boolean;

  /** Has the device start with what is enqueued, soon. */
  flush(): void;

  /**
   * Waits for all that was enqueued.
   *
   * @throws TimeoutError, DeviceLostError, MemoryError
   */
  finish(): Promise<void>;

  /** After the wait. @throws MismatchError when what was transferred is not the same on both sides */
  check(): Promise<void>;

  /** Gives the temporaries back. May be called twice. */
  release(): void;
}
