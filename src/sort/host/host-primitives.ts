/**
 * Reduce, scan and histogram in host memory, in steps, with the semantics of the kernels. Integer sums wrap at 64 bits,
 * NaN wins a minimum and a maximum, and −0 is below +0.
 *
 * They use numbers only, with 64-bit keys in halves of 32 bits: BigInt arithmetic is ten times slower.
 */
import { elementsOf, type HostColumn, type KeyWords } from '../../keys/array.js';
import { codeWordsOf, encodeRecords } from '../../keys/codec-records.js';
import { type Dtype, type DtypeInfo, dtypeInfo, isHalf } from '../../keys/dtype.js';
import { keyCodec } from '../../keys/key-codec.js';
import { halfDecoder } from '../../keys/value.js';
import { assertReducible, type ReduceOp, scanType } from '../../primitives/possible.js';
import { inSlices, type Steps } from './steps.js';

/** Keys that are encoded at a time: their codes stay in the cache. */
const BLOCK = 2 ** 14;

type Numbers = Uint8Array | Int8Array | Uint16Array | Int16Array | Uint32Array | Int32Array;
type Floats = Float32Array | Float64Array;

const halves = (words: KeyWords): Uint32Array =>
  new Uint32Array(words.buffer, words.byteOffset, words.byteLength / 4);

/**
 * Computes the sum, minimum or maximum.
 *
 * @throws UnsupportedError for sums of f16 and bf16; InputError for the minimum or maximum of no keys
 */
export function* hostReduce(
  { dtype, info, n, view: words }: HostColumn,
  op: ReduceOp,
): Steps<number | bigint> {
  assertReducible(dtype, op, n);
  if (op !== 'sum') {
    let found: number | bigint | undefined;
    yield* inSlices(n, (start, end) => {
      const slice = extremeOf(dtype, words.subarray(start, end), op);
      found = found === undefined ? slice : combineExtremes(op, found, slice);
    });
    return found as number | bigint;
  }
  if (info.kind === 'float') {
    const keys = elementsOf(words, dtype) as Floats;
    const sum = new RunningSum();
    yield* inSlices(n, (start, end) => sum.add(keys.subarray(start, end)));
    return dtype === 'f32' ? Math.fround(sum.value) : sum.value;
  }
  let sum = 0n;
  yield* inSlices(n, (start, end) => {
    sum += integerSum(words.subarray(start, end), info);
  });
  return info.kind === 'signed' ? BigInt.asIntN(64, sum) : BigInt.asUintN(64, sum);
}

/**
 * Returns the exact sum of integer keys.
 *
 * @param words at most 2^20 keys: their sum, or the sums of their halves of 32 bits, are exact in doubles
 */
export function integerSum(words: KeyWords, { name, kind, width }: DtypeInfo): bigint {
  if (width < 64) {
    const keys = elementsOf(words, name) as Numbers;
    let sum = 0;
    for (let i = 0; i < keys.length; i++) sum += keys[i] as number;
    return BigInt(sum);
  }
  const lows = halves(words);
  const highs = kind === 'signed' ? new Int32Array(lows.buffer, lows.byteOffset, lows.length) : lows;
  let low = 0;
  let high = 0;
  for (let i = 0; i < lows.length; i += 2) {
    low += lows[i] as number;
    high += highs[i + 1] as number;
  }
  return BigInt(low) + (BigInt(high) << 32n);
}

/** A sum with compensation of its rounding error (W. Kahan, 1965); the compensation is 0 at infinity. */
class RunningSum {
  value = 0;
  #compensation = 0;

  add(keys: Floats): void {
    let sum = this.value;
    let compensation = this.#compensation;
    for (let i = 0; i < keys.length; i++) {
      const value = (keys[i] as number) - compensation;
      const next = sum + value;
      compensation = Number.isFinite(next) ? next - sum - value : 0;
      sum = next;
    }
    this.value = sum;
    this.#compensation = compensation;
  }

  /** Writes the sum before each key, or including it, to `to`, which may be `keys`. */
  scan(keys: Floats, to: Floats, inclusive: boolean): void {
    let sum = this.value;
    let compensation = this.#compensation;
    for (let i = 0; i < keys.length; i++) {
      const value = (keys[i] as number) - compensation;
      const next = sum + value;
      to[i] = inclusive ? next : sum;
      compensation = Number.isFinite(next) ? next - sum - value : 0;
      sum = next;
    }
    this.value = sum;
    this.#compensation = compensation;
  }
}

/** Returns the minimum or maximum of two values. NaN wins, and −0 is below +0. */
export function combineExtremes<V extends number | bigint>(op: 'min' | 'max', a: V, b: V): V {
  if (typeof a === 'number') return Math[op](a, b as number) as V;
  return (op === 'min' ? b < a : b > a) ? b : a;
}

function extremeOf(dtype: Dtype, words: KeyWords, op: 'min' | 'max'): number | bigint {
  const info = dtypeInfo(dtype);
  // In Math.min and Math.max, NaN wins and −0 is below +0.
  const betterOf = op === 'min' ? Math.min : Math.max;
  let found = op === 'min' ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  if (isHalf(info)) {
    const decode = halfDecoder(info);
    for (const bits of words as Uint16Array) found = betterOf(found, decode(bits));
    return found;
  }
  const elements = elementsOf(words, dtype);
  if (info.kind === 'float' || info.width < 64) {
    const keys = elements as Numbers | Floats;
    for (let i = 0; i < keys.length; i++) found = betterOf(found, keys[i] as number);
    return found;
  }
  const keys = elements as BigInt64Array;
  let extreme = keys[0] as bigint;
  for (const key of keys) if (op === 'min' ? key < extreme : key > extreme) extreme = key;
  return extreme;
}

/**
 * Computes prefix sums in the keys' dtype. `to` may be the memory of the keys.
 *
 * @throws UnsupportedError for dtypes that cannot be scanned
 */
export function* hostScan(
  { dtype, info, n, view: words }: HostColumn,
  to: KeyWords,
  inclusive: boolean,
): Steps {
  scanType(dtype);
  if (info.kind === 'float') {
    const [from, sums] = [elementsOf(words, dtype) as Floats, elementsOf(to, dtype) as Floats];
    const sum = new RunningSum();
    yield* inSlices(n, (start, end) =>
      sum.scan(from.subarray(start, end), sums.subarray(start, end), inclusive),
    );
    return;
  }
  let before: readonly [low: number, high: number] = [0, 0];
  yield* inSlices(n, (start, end) => {
    const [from, sums] = [words.subarray(start, end), to.subarray(start, end)];
    before =
      info.width === 64
        ? scanWide(halves(from), halves(sums), inclusive, before)
        : [scanWhole(from as Uint32Array, sums as Uint32Array, inclusive, before[0]), 0];
  });
}

/**
 * Scans words. The bits of sums modulo 2^32 are the same for signed and unsigned numbers.
 *
 * @param sum sum of the previous slices
 * @returns the sum including these keys
 */
function scanWhole(keys: Uint32Array, to: Uint32Array, inclusive: boolean, sum: number): number {
  for (let i = 0; i < keys.length; i++) {
    const next = (sum + (keys[i] as number)) >>> 0;
    to[i] = inclusive ? next : sum;
    sum = next;
  }
  return sum;
}

function scanWide(
  words: Uint32Array,
  to: Uint32Array,
  inclusive: boolean,
  [low, high]: readonly [low: number, high: number],
): [low: number, high: number] {
  for (let i = 0; i < words.length; i += 2) {
    const nextLow = low + (words[i] as number);
    const nextHigh = (high + (words[i + 1] as number) + (nextLow > 0xffff_ffff ? 1 : 0)) >>> 0;
    to[i] = inclusive ? nextLow : low; // stored modulo 2^32
    to[i + 1] = inclusive ? nextHigh : high;
    low = nextLow >>> 0;
    high = nextHigh;
  }
  return [low, high];
}

/**
 * Counts keys by bin. Bin b holds the keys with edges[b] <= code < edges[b + 1]; the last bin includes its upper edge.
 *
 * @param edges codes in ascending order, one more than there are bins
 * @returns one count for each bin
 */
export function* hostHistogram(
  { dtype, info, n, view: words }: HostColumn,
  edges: readonly bigint[],
): Steps<Uint32Array> {
  const bins = edges.length - 1;
  const counts = new Uint32Array(bins);
  const lows = Uint32Array.from(edges, (edge) => Number(edge & 0xffff_ffffn));
  const highs = Uint32Array.from(edges, (edge) => Number(edge >> 32n));
  const codec = keyCodec(dtype);
  const stride = codeWordsOf(info);
  const codes = new Uint32Array(Math.min(BLOCK, n) * stride);
  const count = (start: number, end: number): void => {
    encodeRecords(words.subarray(start, end), codes, stride, codec);
    for (let i = 0; i < end - start; i++) {
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
  };
  yield* inSlices(n, count, BLOCK);
  return counts;
}

/** Counts keys by a digit of their codes: at most 16 bits, which may span both words. */
export function* hostDigits(
  { dtype, info, n, view: words }: HostColumn,
  [begin, end]: readonly [begin: number, end: number],
): Steps<Uint32Array> {
  const counts = new Uint32Array(2 ** (end - begin));
  const mask = counts.length - 1;
  const codec = keyCodec(dtype);
  const stride = codeWordsOf(info);
  const word = begin >> 5;
  const shift = begin & 31;
  const inBoth = shift + end - begin > 32;
  const codes = new Uint32Array(Math.min(BLOCK, n) * stride);
  const count = (from: number, to: number): void => {
    encodeRecords(words.subarray(from, to), codes, stride, codec);
    for (let at = word; at < (to - from) * stride; at += stride) {
      const above = inBoth ? (codes[at + 1] as number) << (32 - shift) : 0;
      const digit = (((codes[at] as number) >>> shift) | above) & mask;
      counts[digit] = (counts[digit] as number) + 1;
    }
  };
  yield* inSlices(n, count, BLOCK);
  return counts;
}

/** Whether a code of two words is below edge i. */
function isBelow(low: number, high: number, lows: Uint32Array, highs: Uint32Array, i: number): boolean {
  const edge = highs[i] as number;
  return high === edge ? low < (lows[i] as number) : high < edge;
}
