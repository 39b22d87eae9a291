/** What can be reduced and scanned, on a device or on the host. */
import type { Dtype } from '../keys/dtype.js';
import { InputError, UnsupportedError } from '../util/errors.js';

export const REDUCE_OPS = ['sum', 'min', 'max'] as const;
export type ReduceOp = (typeof REDUCE_OPS)[number];

/** @throws UnsupportedError for sums of f16; InputError for the minimum or maximum of nothing */
export function assertReducible(dtype: Dtype, op: ReduceOp, n = 1): void {
  if (op === 'sum' && dtype === 'f16') {
    throw new UnsupportedError('sums of f16 are not supported: convert to f32');
  }
  if (op !== 'sum' && n === 0) throw new InputError(`the ${op} of no keys is not defined`);
}

const TYPES: Readonly<Partial<Record<Dtype, number>>> = { u32: 0, i32: 0, u64: 1, i64: 1, f32: 2, f64: 3 };

/** The type of the kernel's values. @throws UnsupportedError for dtypes that cannot be scanned */
export function scanType(dtype: Dtype): number {
  const type = TYPES[dtype];
  if (type === undefined) {
    throw new UnsupportedError(`${dtype} cannot be scanned: expected u32 i32 u64 i64 f32 f64`);
  }
  return type;
}
