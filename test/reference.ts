/**
 * The expected result of a sort, computed in the simplest way: the rank of each key among all keys of its dtype, as
 * numbers are ordered, and V8's stable comparison sort of positions. Slow, and independent of the engines: it imports
 * only types from them.
 */
import type { Dtype } from '../src/keys/dtype.js';

export interface ReferenceOrder {
  readonly descending?: boolean;
  readonly nan?: 'first' | 'last';
  readonly bits?: readonly [begin: number, end: number];
  /** The same window under the name of the public option. */
  readonly bitRange?: readonly [begin: number, end: number];
}

/** Patterns of infinity; a float with a larger magnitude is NaN. */
const INFINITY: Readonly<Record<string, bigint>> = {
  f16: 0x7c00n,
  bf16: 0x7f80n,
  f32: 0x7f80_0000n,
  f64: 0x7ff0_0000_0000_0000n,
};

const widthOf = (dtype: Dtype): number => Number(dtype.replace(/\D+/, ''));

/** The number of values of a dtype below that of a pattern; undefined for NaN. */
function numbersBelow(dtype: Dtype, pattern: bigint): bigint | undefined {
  const width = widthOf(dtype);
  const half = 1n << BigInt(width - 1);
  if (dtype[0] === 'u') return pattern;
  if (dtype[0] === 'i') return BigInt.asIntN(width, pattern) + half;
  const infinity = INFINITY[dtype] ?? 0n;
  const magnitude = pattern % half;
  if (magnitude > infinity) return undefined;
  // From -infinity to -0, then from +0 to infinity: as many of each sign.
  return pattern >= half ? infinity - magnitude : infinity + 1n + magnitude;
}

/**
 * The number of NaNs below the one of a pattern: those without a sign by their bits, then those with one, the largest
 * first.
 */
function nansBelow(dtype: Dtype, pattern: bigint): bigint {
  const half = 1n << BigInt(widthOf(dtype) - 1);
  const infinity = INFINITY[dtype] ?? 0n;
  const magnitude = pattern % half;
  if (pattern < half) return magnitude - infinity - 1n;
  return half - 1n - infinity + (half - 1n - magnitude);
}

/** The rank of a key among all keys of its dtype in an order, from 0. */
export function referenceCode(dtype: Dtype, order: ReferenceOrder, pattern: bigint): bigint {
  const nans =
    INFINITY[dtype] === undefined
      ? 0n
      : 2n * ((1n << BigInt(widthOf(dtype) - 1)) - 1n - (INFINITY[dtype] ?? 0n));
  const numbers = (1n << BigInt(widthOf(dtype))) - nans;
  const below = numbersBelow(dtype, pattern);
  const isFirst = order.nan === 'first';
  if (below === undefined) return nansBelow(dtype, pattern) + (isFirst ? 0n : numbers);
  return (order.descending ? numbers - 1n - below : below) + (isFirst ? nans : 0n);
}

/** The bit patterns in `bytes`, one BigInt per key. */
export function patterns(bytes: Uint8Array, dtype: Dtype): bigint[] {
  const unit = widthOf(dtype) / 8;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.byteLength / unit }, (_, i) => {
    let pattern = 0n;
    for (let b = unit - 1; b >= 0; b--) pattern = (pattern << 8n) | BigInt(view.getUint8(i * unit + b));
    return pattern;
  });
}

/** Positions of the keys in sorted order. */
export function referenceArgsort(bytes: Uint8Array, dtype: Dtype, order: ReferenceOrder = {}): number[] {
  const [begin, end] = order.bits ?? order.bitRange ?? [0, widthOf(dtype)];
  const mask = (1n << BigInt(end - begin)) - 1n;
  const codes = patterns(bytes, dtype).map(
    (key) => (referenceCode(dtype, order, key) >> BigInt(begin)) & mask,
  );
  // Array.prototype.sort is stable; equal codes keep the order of their positions.
  return Array.from(codes.keys()).sort((a, b) => {
    const x = codes[a] ?? 0n;
    const y = codes[b] ?? 0n;
    return x < y ? -1 : x > y ? 1 : 0;
  });
}

/** Elements of `width` bytes in the order of `positions`. */
export function pick(bytes: Uint8Array, width: number, positions: readonly number[]): Uint8Array {
  const picked = new Uint8Array(positions.length * width);
  positions.forEach((position, i) => {
    picked.set(bytes.subarray(position * width, (position + 1) * width), i * width);
  });
  return picked;
}

/** The sorted keys, as bytes. */
export function referenceSort(bytes: Uint8Array, dtype: Dtype, order: ReferenceOrder = {}): Uint8Array {
  return pick(bytes, widthOf(dtype) / 8, referenceArgsort(bytes, dtype, order));
}

/** Whether two arrays hold the same elements of `width` bytes with the same multiplicities. */
export function sameMultiset(a: Uint8Array, b: Uint8Array, width: number): boolean {
  if (a.byteLength !== b.byteLength) return false;
  const counts = new Map<string, number>();
  const tally = (bytes: Uint8Array, step: number) => {
    for (let at = 0; at < bytes.length; at += width) {
      const key = bytes.subarray(at, at + width).join();
      counts.set(key, (counts.get(key) ?? 0) + step);
    }
  };
  tally(a, 1);
  tally(b, -1);
  return [...counts.values()].every((count) => count === 0);
}

/** Patterns with one NaN and one zero: equal where keys are equal as numbers. */
export function canonicalPatterns(bytes: Uint8Array, dtype: Dtype): bigint[] {
  const infinity = INFINITY[dtype];
  const all = patterns(bytes, dtype);
  if (infinity === undefined) return all;
  const ones = (1n << BigInt(widthOf(dtype) - 1)) - 1n; // all but the sign
  return all.map((key) => {
    const magnitude = key & ones;
    return magnitude > infinity ? ones : magnitude === 0n ? 0n : key;
  });
}

/** Positions of rows, by canonical keys, the first column being the most significant. */
export function referenceLexsort(
  columns: readonly { readonly bytes: Uint8Array; readonly dtype: Dtype; readonly order?: ReferenceOrder }[],
): number[] {
  const codes = columns.map(({ bytes, dtype, order = {} }) =>
    canonicalPatterns(bytes, dtype).map((key) => referenceCode(dtype, order, key)),
  );
  return Array.from(codes[0]?.keys() ?? []).sort((a, b) => {
    for (const column of codes) {
      const [x = 0n, y = 0n] = [column[a], column[b]];
      if (x !== y) return x < y ? -1 : 1;
    }
    return a - b;
  });
}
