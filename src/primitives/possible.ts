/** Operations of reductions and scans, on a device or on the host. */
import type { KnownDevice } from '../device/device.js';
import { type Dtype, dtypeInfo, isHalf } from '../keys/dtype.js';
import { InputError, UnsupportedError } from '../util/errors.js';

export const REDUCE_OPS = ['sum', 'min', 'max'] as const;
/** Operation of a reduction: sum, minimum or maximum. */
export type ReduceOp = (typeof REDUCE_OPS)[number];

/**
 * Checks that a reduction is defined. @throws UnsupportedError for sums of f16 and bf16; InputError for the min or
 * max of no keys
 */
export function assertReducible(dtype: Dtype, op: ReduceOp, n = 1): void {
  if (op === 'sum' && isHalf(dtypeInfo(dtype))) throw halfSumError('sum', dtype);
  if (op !== 'sum' && n === 0) throw new InputError(`cannot compute the ${op}: there are no keys`);
}

const halfSumError = (op: 'sum' | 'product', dtype: Dtype): UnsupportedError =>
  new UnsupportedError(
    `cannot compute a ${op} of ${dtype}: its precision is too low. Convert the keys to f32`,
  );

/** Scan operations, in the order of their kernel constants: see OP and KIND in cl/combine.clh. */
export const SCAN_OPS = ['sum', 'min', 'max', 'product'] as const;
/** Operation of a scan: sum, minimum, maximum or product. */
export type ScanOp = (typeof SCAN_OPS)[number];
export const KINDS = { unsigned: 0, signed: 1, float: 2 } as const;

/** Checks that a scan is supported. @throws UnsupportedError for sums and products of f16 and bf16 */
export function assertScannable(dtype: Dtype, op: ScanOp): void {
  if ((op === 'sum' || op === 'product') && isHalf(dtypeInfo(dtype))) throw halfSumError(op, dtype);
}

/** @throws UnsupportedError when the device lacks the f64 arithmetic of sums and products */
export function assertArithmetic({ info, capabilities }: KnownDevice, dtype: Dtype, op: ScanOp): void {
  if (dtype === 'f64' && (op === 'sum' || op === 'product') && !capabilities.fp64) {
    throw new UnsupportedError(`cannot compute a ${op} of f64: ${info.name} does not support fp64`);
  }
}

const TYPES: Readonly<Partial<Record<Dtype, number>>> = { u32: 0, i32: 0, u64: 1, i64: 1, f32: 2, f64: 3 };

/** Returns the kernel constant of a value type. @throws UnsupportedError for dtypes that cannot be scanned */
export function scanType(dtype: Dtype): number {
  const type = TYPES[dtype];
  if (type === undefined) {
    throw new UnsupportedError(`cannot scan ${dtype}: the dtype must be one of u32 i32 u64 i64 f32 f64`);
  }
  return type;
}

/** Returns the result dtype of a reduction by runs: sums of integers have 64 bits. */
export function runsDtype(dtype: Dtype, op: ReduceOp): Dtype {
  const { kind } = dtypeInfo(dtype);
  return op !== 'sum' || kind === 'float' ? dtype : kind === 'signed' ? 'i64' : 'u64';
}
