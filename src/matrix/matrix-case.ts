import type { Dtype } from '../keys/dtype.js';
import type { Keys, Order } from './axes.js';

/** A cell of the matrix of one device. Its cases differ in size, order and key distribution. */
export interface MatrixCell {
  readonly operation: string;
  /** `auto` when the planner chooses; `none` when the operation does not sort. */
  readonly algorithm: string;
  readonly dtype: Dtype;
}

/** One call on one device. */
export interface MatrixCase extends MatrixCell {
  readonly n: number;
  readonly order: Order;
  readonly keys: Keys;
  /**
   * Seed of the keys; derived from the matrix seed, dtype, size and distribution, independent of operation and
   * algorithm.
   */
  readonly seed: number;
}
