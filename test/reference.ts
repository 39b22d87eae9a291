/**
 * What a sort is to give, worked out in the plainest way: codes by the BigInt codec, a stable comparison
 * sort of positions. Slow, and independent of every engine.
 */
import { type Dtype, dtypeInfo } from '../src/keys/dtype.js';
import { encode, keyCodec, type Order } from '../src/keys/key-codec.js';

export interface ReferenceOrder extends Order {
  readonly bits?: readonly [begin: number, end: number];
}

/** The bit patterns in `bytes`, one BigInt a key. */
export function patterns(bytes: Uint8Array, dtype: Dtype): bigint[] {
  const unit = dtypeInfo(dtype).bytes;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.byteLength / unit }, (_, i) => {
    let pattern = 0n;
    for (let b = unit - 1; b >= 0; b--) pattern = (pattern << 8n) | BigInt(view.getUint8(i * unit + b));
    return pattern;
  });
}

/** Positions of the keys in sorted order. */
export function referenceArgsort(bytes: Uint8Array, dtype: Dtype, order: ReferenceOrder = {}): number[] {
  const codec = keyCodec(dtype, order);
  const [begin, end] = order.bits ?? [0, codec.dtype.width];
  const mask = (1n << BigInt(end - begin)) - 1n;
  const codes = patterns(bytes, dtype).map((key) => (encode(codec, key) >> BigInt(begin)) & mask);
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
  return pick(bytes, dtypeInfo(dtype).bytes, referenceArgsort(bytes, dtype, order));
}

/** Whether two arrays hold the same elements of `width` bytes, each as often. */
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
  const { kind, width, negativeNaNs } = dtypeInfo(dtype);
  const all = patterns(bytes, dtype);
  if (kind !== 'float') return all;
  const ones = (1n << BigInt(width - 1)) - 1n; // all but the sign
  const infinity = ones - negativeNaNs;
  return all.map((key) => {
    const magnitude = key & ones;
    return magnitude > infinity ? ones : magnitude === 0n ? 0n : key;
  });
}

/** Positions of rows, by canonical keys, the first column being the most significant. */
export function referenceLexsort(
  columns: readonly { readonly bytes: Uint8Array; readonly dtype: Dtype; readonly order?: Order }[],
): number[] {
  const codes = columns.map(({ bytes, dtype, order }) => {
    const codec = keyCodec(dtype, order);
    return canonicalPatterns(bytes, dtype).map((key) => encode(codec, key));
  });
  return Array.from(codes[0]?.keys() ?? []).sort((a, b) => {
    for (const column of codes) {
      const [x = 0n, y = 0n] = [column[a], column[b]];
      if (x !== y) return x < y ? -1 : 1;
    }
    return a - b;
  });
}
