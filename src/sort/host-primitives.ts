/**
 * Reduce, scan and histogram in host memory, with the semantics of the kernels: integer sums wrap at 64
 * bits, NaN wins a minimum and a maximum, −0 is below +0.
 *
 * Numbers only, 64-bit keys in halves of 32 bits: BigInt arithmetic is an order of magnitude slower.
 */
import type { HostColumn, KeyWords } from '../keys/array.js';
import { codeWordsOf, encodeRecords } from '../keys/codec-records.js';
import type { Dtype } from '../keys/dtype.js';
import { keyCodec } from '../keys/key-codec.js';
import { f16Value } from '../keys/value.js';
import { assertReducible, type ReduceOp } from '../primitives/reduce.js';
import { scanType } from '../primitives/scan.js';

/** 32-bit numbers of which so many add up exactly in a double. */
const EXACT_ADDENDS = 2 ** 20;

/** Keys that are encoded at a time. */
const BLOCK = 2 ** 14;

type Numbers = Uint8Array | Int8Array | Uint16Array | Int16Array | Uint32Array | Int32Array;
type Floats = Float32Array | Float64Array;

const VIEWS = {
  u8: Uint8Array,
  i8: Int8Array,
  u16: Uint16Array,
  i16: Int16Array,
  u32: Uint32Array,
  i32: Int32Array,
  f32: Float32Array,
  f64: Float64Array,
} as const;

const isInView = (dtype: Dtype): dtype is keyof typeof VIEWS => Object.hasOwn(VIEWS, dtype);

/** The keys as numbers. */
function view(dtype: keyof typeof VIEWS, words: KeyWords): Numbers | Floats {
  return new VIEWS[dtype](words.buffer as ArrayBuffer, words.byteOffset, words.length);
}

const halves = (words: KeyWords): Uint32Array =>
  new Uint32Array(words.buffer, words.byteOffset, words.byteLength / 4);

/**
 * Sum, minimum or maximum.
 *
 * @throws UnsupportedError for sums of f16; InputError for the minimum or maximum of nothing
 */
export function hostReduce({ dtype, info, n, view: words }: HostColumn, op: ReduceOp): number | bigint {
  assertReducible(dtype, op, n);
  if (op !== 'sum') return extremeOf(dtype, words, op);
  if (info.kind === 'float') {
    const sum = floatSum(view(dtype as 'f32' | 'f64', words) as Floats);
    return dtype === 'f32' ? Math.fround(sum) : sum;
  }
  const sum = isInView(dtype) ? wholeSum(view(dtype, words) as Numbers) : wideSum(halves(words));
  return info.kind === 'signed' ? BigInt.asIntN(64, sum) : BigInt.asUintN(64, sum);
}

function wholeSum(keys: Numbers): bigint {
  let sum = 0n;
  for (let start = 0; start < keys.length; start += EXACT_ADDENDS) {
    const end = Math.min(keys.length, start + EXACT_ADDENDS);
    let part = 0;
    for (let i = start; i < end; i++) part += keys[i] as number;
    sum += BigInt(part);
  }
  return sum;
}

function wideSum(words: Uint32Array): bigint {
  let sum = 0n;
  for (let start = 0; start < words.length; start += 2 * EXACT_ADDENDS) {
    const end = Math.min(words.length, start + 2 * EXACT_ADDENDS);
    let low = 0;
    let high = 0;
    for (let i = start; i < end; i += 2) {
      low += words[i] as number;
      high += words[i + 1] as number;
    }
    sum += BigInt(low) + (BigInt(high) << 32n);
  }
  return sum;
}

/** Carries the rounding error along (W. Kahan, 1965); at infinity there is none. */
function floatSum(keys: Floats): number {
  let sum = 0;
  let lost = 0;
  for (let i = 0; i < keys.length; i++) {
    const value = (keys[i] as number) - lost;
    const next = sum + value;
    lost = Number.isFinite(next) ? next - sum - value : 0;
    sum = next;
  }
  return sum;
}

function extremeOf(dtype: Dtype, words: KeyWords, op: 'min' | 'max'): number | bigint {
  if (!isInView(dtype) && dtype !== 'f16') {
    const keys = dtype === 'i64' ? new BigInt64Array(words.buffer, words.byteOffset, words.length) : words;
    let found = keys[0] as bigint;
    for (const key of keys as BigInt64Array) if (op === 'min' ? key < found : key > found) found = key;
    return found;
  }
  // Math.min and Math.max let NaN win and put −0 below +0.
  const better = op === 'min' ? Math.min : Math.max;
  let found = op === 'min' ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  if (dtype === 'f16') {
    for (const bits of words as Uint16Array) found = better(found, f16Value(bits));
    return found;
  }
  const keys = view(dtype, words);
  for (let i = 0; i < keys.length; i++) found = better(found, keys[i] as number);
  return found;
}

/**
 * Prefix sums, in the keys' own type. `to` may be the memory of the keys.
 *
 * @throws UnsupportedError for dtypes that cannot be scanned
 */
export function hostScan({ dtype, info, view: words }: HostColumn, to: KeyWords, inclusive: boolean): void {
  scanType(dtype);
  if (info.kind === 'float') {
    const type = dtype as 'f32' | 'f64';
    scanFloats(view(type, words) as Floats, view(type, to) as Floats, inclusive);
  } else if (info.width === 64) {
    scanWide(halves(words), halves(to), inclusive);
  } else {
    scanWhole(words as Uint32Array, to as Uint32Array, inclusive);
  }
}

function scanFloats(keys: Floats, to: Floats, inclusive: boolean): void {
  let sum = 0;
  let lost = 0;
  for (let i = 0; i < keys.length; i++) {
    const value = (keys[i] as number) - lost;
    const next = sum + value;
    to[i] = inclusive ? next : sum;
    lost = Number.isFinite(next) ? next - sum - value : 0;
    sum = next;
  }
}

/** The bits of sums modulo 2^32 are the same for signed and unsigned numbers. */
function scanWhole(keys: Uint32Array, to: Uint32Array, inclusive: boolean): void {
  let sum = 0;
  for (let i = 0; i < keys.length; i++) {
    const next = (sum + (keys[i] as number)) >>> 0;
    to[i] = inclusive ? next : sum;
    sum = next;
  }
}

function scanWide(words: Uint32Array, to: Uint32Array, inclusive: boolean): void {
  let low = 0;
  let high = 0;
  for (let i = 0; i < words.length; i += 2) {
    const nextLow = low + (words[i] as number);
    const nextHigh = (high + (words[i + 1] as number) + (nextLow > 0xffff_ffff ? 1 : 0)) >>> 0;
    to[i] = inclusive ? nextLow : low; // stored modulo 2^32
    to[i + 1] = inclusive ? nextHigh : high;
    low = nextLow >>> 0;
    high = nextHigh;
  }
}

/**
 * Counts keys by bin: bin b holds the keys with edges[b] <= code < edges[b + 1], the last one its upper
 * edge too.
 *
 * @param edges codes of ascending order, one more than `counts` has bins
 */
export function hostHistogram(
  { dtype, info, view: words }: HostColumn,
  edges: readonly bigint[],
): Uint32Array {
  const bins = edges.length - 1;
  const counts = new Uint32Array(bins);
  const lows = Uint32Array.from(edges, (edge) => Number(edge & 0xffff_ffffn));
  const highs = Uint32Array.from(edges, (edge) => Number(edge >> 32n));
  const codec = keyCodec(dtype);
  const stride = codeWordsOf(info);
  const codes = new Uint32Array(Math.min(BLOCK, words.length) * stride);
  for (let start = 0; start < words.length; start += BLOCK) {
    const block = words.subarray(start, start + BLOCK);
    encodeRecords(block, codes, stride, codec);
    for (let i = 0; i < block.length; i++) {
      const low = codes[i * stride] as number;
      const high = stride === 2 ? (codes[i * 2 + 1] as number) : 0;
      if (isBelow(low, high, lows, highs, 0)) continue;
      let [first, last] = [0, bins];
      while (last - first > 1) {
        const middle = (first + last) >> 1;
        if (isBelow(low, high, lows, highs, middle)) last = middle;
        else first = middle;
      }
      const atTop = low === lows[bins] && high === highs[bins];
      if (!atTop && !isBelow(low, high, lows, highs, bins)) continue;
      counts[first] = (counts[first] as number) + 1;
    }
  }
  return counts;
}

/** Counts keys by a digit of their codes: at most 16 bits, which may stand in both words. */
export function hostDigits(
  { dtype, info, view: words }: HostColumn,
  [begin, end]: readonly [begin: number, end: number],
): Uint32Array {
  const counts = new Uint32Array(2 ** (end - begin));
  const mask = counts.length - 1;
  const codec = keyCodec(dtype);
  const stride = codeWordsOf(info);
  const word = begin >> 5;
  const shift = begin & 31;
  const inBoth = shift + end - begin > 32;
  const codes = new Uint32Array(Math.min(BLOCK, words.length) * stride);
  for (let start = 0; start < words.length; start += BLOCK) {
    const block = words.subarray(start, start + BLOCK);
    encodeRecords(block, codes, stride, codec);
    for (let at = word; at < block.length * stride; at += stride) {
      const above = inBoth ? (codes[at + 1] as number) << (32 - shift) : 0;
      const digit = (((codes[at] as number) >>> shift) | above) & mask;
      counts[digit] = (counts[digit] as number) + 1;
    }
  }
  return counts;
}

/** Is a code of two words below edge i? */
function isBelow(low: number, high: number, lows: Uint32Array, highs: Uint32Array, i: number): boolean {
  const edge = highs[i] as number;
  return high === edge ? low < (lows[i] as number) : high < edge;
}
