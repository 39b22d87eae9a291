/** What can be reduced and scanned, on a device or on the host. */
import type { KnownDevice } from '../device/device.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
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

/** The numbers of operations in kernels: see OP and KIND in cl/combine.clh. */
export const SCAN_OPS = ['sum', 'min', 'max', 'product'] as const;
export type ScanOp = (typeof SCAN_OPS)[number];
export const KINDS = { unsigned: 0, signed: 1, float: 2 } as const;

/** @throws UnsupportedError for sums and products of f16 */
export function assertScannable(dtype: Dtype, op: ScanOp): void {
  if (dtype === 'f16' && (op === 'sum' || op === 'product')) {
    throw new UnsupportedError(
      `${op === 'sum' ? 'prefix sums' : 'products'} of f16 are not supported: convert to f32`,
    );
  }
}

/** @throws UnsupportedError where a device lacks the arithmetic of f64 that sums and products need */
export function assertArithmetic({ info, capabilities }: KnownDevice, dtype: Dtype, op: ScanOp): void {
  if (dtype === 'f64' && (op === 'sum' || op === 'product') && !capabilities.fp64) {
    throw new UnsupportedError(`${info.name} has no fp64, which sums and products of f64 need`);
  }
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

/** Results of a reduction by runs: sums of integers have 64 bits. */
export function runsDtype(dtype: Dtype, op: ReduceOp): Dtype {
  const { kind } = dtypeInfo(dtype);
  return op !== 'sum' || kind === 'float' ? dtype : kind === 'signed' ? 'i64' : 'u64';
}
