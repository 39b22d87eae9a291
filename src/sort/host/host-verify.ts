import { bytesOf, emptyLike, type HostColumn, type KeyWords, keyWords } from '../../keys/array.js';
import { codeWordsOf, encodeRecords } from '../../keys/codec-records.js';
import { type KeyCodec, keyCodec } from '../../keys/key-codec.js';
import { ElementSum } from './element-sum.js';
import type { HostOrder, HostResult } from './host-sort.js';
import { COMPARE_BYTES, SLICE } from './policy.js';
import { inSlices, runSync, type Steps } from './steps.js';

/**
 * Verifies a result against its input on the host: its order, and that it holds the elements of the input. Elements are
 * compared by 64-bit sums of hashes of the keys, or of the keys and their values, and exactly for positions.
 */
export function* verifySteps(
  keys: HostColumn,
  order: HostOrder,
  { sorted, values, moved }: HostResult,
): Steps<{ order: boolean; permutation: boolean }> {
  const codec = keyCodec(keys.dtype, order);
  const window = order.bits ?? [0, keys.info.width];
  if (moved && !values) {
    const Type = moved.byteLength === 8 * keys.n ? BigUint64Array : Uint32Array;
    const positions = new Type(moved.buffer as ArrayBuffer, moved.byteOffset, keys.n);
    if (!(yield* areAllPositions(positions))) return { order: false, permutation: false };
    const gathered = emptyLike(keys.view, positions.length);
    yield* inSlices(keys.n, (start, end) => gatherWords(keys.view, positions, gathered, start, end));
    const same = !sorted || (yield* areSame(gathered, sorted));
    return { order: yield* isOrdered(gathered, codec, window, positions), permutation: same };
  }
  if (!sorted) return { order: true, permutation: true };
  const output = keyWords(sorted, keys.info);
  const width = values && moved ? values.bytes : 0;
  const [before, after] = [new ElementSum(), new ElementSum()];
  yield* before.addKeys(keys.view, { values: values?.place, width });
  yield* after.addKeys(output, { values: moved, width });
  return { order: yield* isOrdered(output, codec, window), permutation: before.equals(after) };
}

/** Positions of 4 or 8 bytes. */
type PositionArray = Uint32Array | BigUint64Array;

function* areAllPositions(positions: PositionArray): Steps<boolean> {
  const seen = new Uint8Array(positions.length);
  for (let start = 0; start < positions.length; start += SLICE) {
    if (!areNewPositions(positions.subarray(start, start + SLICE), seen)) return false;
    yield;
  }
  return true;
}

function areNewPositions(positions: PositionArray, seen: Uint8Array): boolean {
  for (const each of positions) {
    const position = Number(each);
    if (seen[position] !== 0) return false; // undefined if out of range
    seen[position] = 1;
  }
  return true;
}

/** Returns whether two arrays have the same bytes. */
export function* areSame(a: ArrayBufferView, b: ArrayBufferView): Steps<boolean> {
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
  positions: PositionArray,
  gathered: KeyWords,
  start: number,
  end: number,
): void {
  // One type stands for all four, which are indexed alike.
  const [from, to] = [words as Uint32Array, gathered as Uint32Array];
  for (let i = start; i < end; i++) to[i] = from[Number(positions[i])] as number;
}

/** Whether codes never fall within the window, and positions, if given, rise where codes are equal. */
function* isOrdered(
  words: KeyWords,
  codec: KeyCodec,
  window: readonly [begin: number, end: number],
  positions?: PositionArray,
): Steps<boolean> {
  return (yield* descentSteps(words, codec, window, positions)) === -1;
}

/** Returns the index of the first key that is out of order, or -1. */
export const firstDescent = (
  words: KeyWords,
  codec: KeyCodec,
  window: readonly [begin: number, end: number],
): number => runSync(descentSteps(words, codec, window));

/**
 * Searches as `firstDescent` does, in steps.
 *
 * @param positions input position of each key, which has to rise where keys are equal
 */
function* descentSteps(
  words: KeyWords,
  codec: KeyCodec,
  [begin, end]: readonly [begin: number, end: number],
  positions?: PositionArray,
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
        if ((positions[at - 1] as number | bigint) > (positions[at] as number | bigint)) return at;
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
