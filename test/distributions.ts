import { DISTRIBUTIONS, type Distribution, generate } from '../src/io/operations/gen.js';
import { DTYPES, type Dtype, dtypeInfo, type KeyArray } from '../src/keys/dtype.js';
import { FULL } from './pairwise.js';

export { DISTRIBUTIONS, type Distribution };

/** Seed of a run; printed with failures, and set by CLSORT_TEST_SEED to repeat one. */
export const SEED = BigInt(process.env.CLSORT_TEST_SEED ?? 20_250_101);

/** All dtypes, or on slow devices one of each width, since programs differ by the width. */
export const dtypesOn = (small: boolean): readonly Dtype[] =>
  small && !FULL ? ['u8', 'f16', 'i32', 'f64'] : DTYPES;

type Keys = new (buffer: ArrayBuffer) => KeyArray;

const ARRAYS: Readonly<Record<Dtype, Keys>> = {
  u8: Uint8Array,
  i8: Int8Array,
  u16: Uint16Array,
  i16: Int16Array,
  f16: Uint16Array, // as bits, on every Node
  bf16: Uint16Array,
  u32: Uint32Array,
  i32: Int32Array,
  f32: Float32Array,
  u64: BigUint64Array,
  i64: BigInt64Array,
  f64: Float64Array,
};

/** Keys of a distribution in the usual array of their dtype (f16 and bf16 as bits). */
export function keysOf(dtype: Dtype, distribution: Distribution, count: number, seed = SEED): KeyArray {
  const bytes = generate({ dtype, distribution, count, seed });
  return new ARRAYS[dtype](bytes.buffer as ArrayBuffer);
}

/** The windows {0, w/3, 3w/4, w}² that begin before or at their end. */
export function bitWindows(dtype: Dtype): [begin: number, end: number][] {
  const { width } = dtypeInfo(dtype);
  const edges = [0, Math.floor(width / 3), Math.floor((3 * width) / 4), width];
  return edges.flatMap((begin) =>
    edges.filter((end) => end >= begin).map((end): [number, number] => [begin, end]),
  );
}
