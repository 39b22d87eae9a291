import type { ReduceOp, ScanOp } from '../../primitives/possible.js';

/** What keys are reduced by. */
export const OPS: readonly ReduceOp[] = ['sum', 'min', 'max'];

/** What keys are combined by in scans. */
export const SCAN_OPS: readonly ScanOp[] = [...OPS, 'product'];
