import type { ReduceOp } from '../../primitives/possible.js';

/** What keys are reduced by. */
export const OPS: readonly ReduceOp[] = ['sum', 'min', 'max'];
