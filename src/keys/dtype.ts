import { DtypeError } from '../util/errors.js';
import { invalidName } from '../util/suggest.js';

/**
 * Names of the element types that clsort sorts, ordered by width in bits.
 *
 * @example
 * ```ts
 * DTYPES.includes('f32'); // true
 * ```
 */
export const DTYPES = [
  'u8',
  'i8',
  'u16',
  'i16',
  'f16',
  'bf16',
  'u32',
  'i32',
  'f32',
  'u64',
  'i64',
  'f64',
] as const;

/** Name of an element type: u for unsigned, i for signed, f for float, bf for bfloat, then the width in bits. */
export type Dtype = (typeof DTYPES)[number];
export type DtypeKind = 'unsigned' | 'signed' | 'float';

/**
 * `Float16Array` if the program's `lib` declares it, else `never`. An undeclared name in a declaration would be
 * `any`, and every argument would be accepted as keys.
 */
export type HalfArray = typeof globalThis extends { Float16Array: { prototype: infer A } } ? A : never;

/** Arrays that hold keys. A Uint16Array holds the bits of bf16 keys, and of f16 keys if Node has no Float16Array. */
export type KeyArray =
  | Uint8Array
  | Uint8ClampedArray
  | Int8Array
  | Uint16Array
  | Int16Array
  | HalfArray
  | Uint32Array
  | Int32Array
  | Float32Array
  | BigUint64Array
  | BigInt64Array
  | Float64Array;

/** Properties of a dtype: its width and the meaning of its bits. */
export interface DtypeInfo {
  readonly name: Dtype;
  readonly kind: DtypeKind;
  /** Bits of a key, 8 to 64. */
  readonly width: 8 | 16 | 32 | 64;
  /** Bytes of a key, 1 to 8. */
  readonly bytes: 1 | 2 | 4 | 8;
  /** M of the key codec: the number of negative NaN bit patterns; 0 for integers. */
  readonly negativeNaNs: bigint;
}

const info = (name: Dtype, kind: DtypeKind, width: DtypeInfo['width'], mantissaBits = 0n): DtypeInfo => ({
  name,
  kind,
  width,
  bytes: (width / 8) as DtypeInfo['bytes'],
  negativeNaNs: kind === 'float' ? (1n << mantissaBits) - 1n : 0n,
});

const TABLE: Readonly<Record<Dtype, DtypeInfo>> = {
  u8: info('u8', 'unsigned', 8),
  i8: info('i8', 'signed', 8),
  u16: info('u16', 'unsigned', 16),
  i16: info('i16', 'signed', 16),
  f16: info('f16', 'float', 16, 10n),
  bf16: info('bf16', 'float', 16, 7n),
  u32: info('u32', 'unsigned', 32),
  i32: info('i32', 'signed', 32),
  f32: info('f32', 'float', 32, 23n),
  u64: info('u64', 'unsigned', 64),
  i64: info('i64', 'signed', 64),
  f64: info('f64', 'float', 64, 52n),
};

/**
 * Returns the properties of a dtype.
 *
 * @throws DtypeError when `name` is not a dtype
 */
export function dtypeInfo(name: string): DtypeInfo {
  const found = typeof name === 'string' && Object.hasOwn(TABLE, name) ? TABLE[name as Dtype] : undefined;
  if (!found) throw invalidName('dtype', name, DTYPES, DtypeError);
  return found;
}

/** Whether keys are floats of 16 bits, which JavaScript reads as bits and on which no sums are computed. */
export const isHalf = ({ kind, width }: DtypeInfo): boolean => kind === 'float' && width === 16;

/** Returns the bits of +infinity, above which the magnitudes of NaNs are; 0 for integers. */
export const infinityBits = ({ kind, width, negativeNaNs }: DtypeInfo): bigint =>
  kind === 'float' ? (1n << BigInt(width - 1)) - 1n - negativeNaNs : 0n;
