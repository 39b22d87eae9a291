import { bytesOf, emptyLike, type HostColumn, type KeyWords, keyWords } from '../../keys/array.js';
import { codeWordsOf, encodeRecords } from '../../keys/codec-records.js';
import type { DtypeInfo } from '../../keys/dtype.js';
import { type KeyCodec, keyCodec } from '../../keys/key-codec.js';
import type { HostOrder, HostResult } from './host-sort.js';
import { inSlices, runSync, SLICE, type Steps } from './steps.js';

/** Bytes that one step compares, which takes about a millisecond. */
const COMPARE_BYTES = 2 ** 22;

/**
 * Verifies a result against its input on the host: its order, and that it holds the elements of the input. Elements are
 * compared by 64-bit sums of hashes of the keys, or of the keys and their values, and exactly for positions.
 */
export function hostVerify(
  keys: HostColumn,
  order: HostOrder,
  result: HostResult,
): { order: boolean; permutation: boolean } {
  return runSync(verifySteps(keys, order, result));
}

/** Verifies as `hostVerify` does, in steps. */
export function* verifySteps(
  keys: HostColumn,
  order: HostOrder,
  { sorted, values, moved }: HostResult,
): Steps<{ order: boolean; permutation: boolean }> {
  const codec = keyCodec(keys.dtype, order);
  const window = order.bits ?? [0, keys.info.width];
  if (moved && !values) {
    const positions = new Uint32Array(moved.buffer, moved.byteOffset, keys.n);
    if (!(yield* areAllPositions(positions))) return { order: false, permutation: false };
    const gathered = emptyLike(keys.view, positions.length);
    yield* inSlices(keys.n, (start, end) => gatherWords(keys.view, positions, gathered, start, end));
    const same = !sorted || (yield* areSame(gathered, sorted));
    return { order: yield* isOrdered(gathered, codec, window, positions), permutation: same };
  }
  if (!sorted) return { order: true, permutation: true };
  const output = keyWords(sorted, keys.info);
  const width = values && moved ? values.bytes : 0;
  const before = yield* hashSum(keys.view, keys.info, values?.view, width);
  const after = yield* hashSum(output, keys.info, moved, width);
  return { order: yield* isOrdered(output, codec, window), permutation: before === after };
}

function* areAllPositions(positions: Uint32Array): Steps<boolean> {
  const seen = new Uint8Array(positions.length);
  for (let start = 0; start < positions.length; start += SLICE) {
    if (!areNewPositions(positions.subarray(start, start + SLICE), seen)) return false;
    yield;
  }
  return true;
}

function areNewPositions(positions: Uint32Array, seen: Uint8Array): boolean {
  for (const position of positions) {
    if (seen[position] !== 0) return false; // undefined if out of range
    seen[position] = 1;
  }
  return true;
}

function* areSame(a: ArrayBufferView, b: ArrayBufferView): Steps<boolean> {
  if (a.byteLength !== b.byteLength) return false;
  for (let start = 0; start < a.byteLength; start += COMPARE_BYTES) {
    const end = Math.min(start + COMPARE_BYTES, a.byteLength);
    if (Buffer.compare(bytesOf(a, start, end), bytesOf(b, start, end)) !== 0) return false;
    yield;
  }
  return true;
}

function gatherWords(
  words: KeyWords,
  positions: Uint32Array,
  gathered: KeyWords,
  start: number,
  end: number,
): void {
  // One type stands for all four, which are indexed alike.
  const [from, to] = [words as Uint32Array, gathered as Uint32Array];
  for (let i = start; i < end; i++) to[i] = from[positions[i] as number] as number;
}

/** Whether codes never fall within the window, and positions, if given, rise where codes are equal. */
function* isOrdered(
  words: KeyWords,
  codec: KeyCodec,
  window: readonly [begin: number, end: number],
  positions?: Uint32Array,
): Steps<boolean> {
  return (yield* descentSteps(words, codec, window, positions)) === -1;
}

/**
 * Returns the index of the first key that is out of order, or -1.
 *
 * @param positions input position of each key, which has to rise where keys are equal
 */
export function firstDescent(
  words: KeyWords,
  codec: KeyCodec,
  window: readonly [begin: number, end: number],
  positions?: Uint32Array,
): number {
  return runSync(descentSteps(words, codec, window, positions));
}

/** Searches as `firstDescent` does, in steps. */
function* descentSteps(
  words: KeyWords,
  codec: KeyCodec,
  [begin, end]: readonly [begin: number, end: number],
  positions?: Uint32Array,
): Steps<number> {
  const stride = codeWordsOf(codec.dtype);
  const lowMask = windowMask(begin, end);
  const highMask = windowMask(begin - 32, end - 32);
  const codes = new Uint32Array(Math.min(SLICE, words.length) * stride);
  let lastLow = 0;
  let lastHigh = 0;
  for (let start = 0; start < words.length; start += SLICE) {
    const piece = words.subarray(start, start + SLICE);
    encodeRecords(piece, codes.subarray(0, piece.length * stride), stride, codec);
    for (let i = 0; i < piece.length; i++) {
      const low = ((codes[i * stride] as number) & lowMask) >>> 0;
      const high = stride === 2 ? ((codes[i * 2 + 1] as number) & highMask) >>> 0 : 0;
      const at = start + i;
      if (high < lastHigh || (high === lastHigh && low < lastLow)) return at;
      if (positions && at > 0 && high === lastHigh && low === lastLow) {
        if ((positions[at - 1] as number) > (positions[at] as number)) return at;
      }
      lastLow = low;
      lastHigh = high;
    }
    yield;
  }
  return -1;
}

/** Returns the bits of a 32-bit word within a window, which may begin before the word and end after it. */
export function windowMask(begin: number, end: number): number {
  const upTo = (bit: number) => (bit <= 0 ? 0 : bit >= 32 ? 0xffff_ffff : 2 ** bit - 1);
  return (upTo(end) & ~upTo(begin)) >>> 0;
}

const mixA = (hash: number, word: number): number => {
  let h = Math.imul(hash ^ word, 0x9e3779b1);
  h ^= h >>> 15;
  return Math.imul(h, 0x85ebca6b) ^ (h >>> 13);
};
const mixB = (hash: number, word: number): number => {
  let h = Math.imul(hash ^ word ^ (word >>> 16), 0xc2b2ae35);
  h ^= h >>> 16;
  return Math.imul(h, 0x27d4eb2f) ^ (h >>> 15);
};

/**
 * Returns the sum of two independent 32-bit hashes of every key, which does not depend on their order.
 *
 * @param times how often each key counts; default once
 */
export function* hashKeys(words: KeyWords, { bytes: unit }: DtypeInfo, times?: Uint32Array): Steps<bigint> {
  let [sumA, sumB] = [0, 0];
  yield* inSlices(words.length, (start, end) => {
    const [a, b] = hashSlice(words.subarray(start, end), unit, undefined, 0, times?.subarray(start, end));
    sumA = (sumA + a) >>> 0;
    sumB = (sumB + b) >>> 0;
  });
  return (BigInt(sumA) << 32n) | BigInt(sumB);
}

/** Returns the same sum for keys with their values. */
function* hashSum(
  words: KeyWords,
  { bytes: unit }: DtypeInfo,
  values: ArrayBufferView | undefined,
  width: number,
): Steps<bigint> {
  let [sumA, sumB] = [0, 0];
  yield* inSlices(words.length, (start, end) => {
    const beside = values && bytesOf(values, start * width, end * width);
    const [a, b] = hashSlice(words.subarray(start, end), unit, beside, width);
    sumA = (sumA + a) >>> 0;
    sumB = (sumB + b) >>> 0;
  });
  return (BigInt(sumA) << 32n) | BigInt(sumB);
}

function hashSlice(
  words: KeyWords,
  unit: number,
  values: Uint8Array | undefined,
  width: number,
  times?: Uint32Array,
): [sumA: number, sumB: number] {
  const narrow = unit < 4;
  const halves = narrow
    ? (words as Uint8Array | Uint16Array)
    : new Uint32Array(words.buffer, words.byteOffset, words.byteLength / 4);
  const stride = unit === 8 ? 2 : 1;
  let sumA = 0;
  let sumB = 0;
  for (let i = 0; i < words.length; i++) {
    let a = 0x2545f491;
    let b = 0x1b873593;
    for (let j = i * stride; j < (i + 1) * stride; j++) {
      a = mixA(a, halves[j] as number);
      b = mixB(b, halves[j] as number);
    }
    if (values) {
      for (let j = i * width; j < (i + 1) * width; j++) {
        a = mixA(a, values[j] as number);
        b = mixB(b, values[j] as number);
      }
    }
    const count = times ? (times[i] as number) : 1;
    sumA = (sumA + Math.imul(mixA(a, 1), count)) >>> 0;
    sumB = (sumB + Math.imul(mixB(b, 2), count)) >>> 0;
  }
  return [sumA, sumB];
}
