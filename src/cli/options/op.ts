import type { ReduceOp, ScanOp } from '../../primitives/possible.js';

/** Operators of reductions. */
export const OPS: readonly ReduceOp[] = ['sum', 'min', 'max'];

/** Operators of scans. */
export const SCAN_OPS: readonly ScanOp[] = [...OPS, 'product'];
