/**
 * The JavaScript engine: the executable specification of the order, and the sort for systems where the addon cannot be
 * loaded. The addon's engine gives the same results, see native-sort.ts.
 *
 * A least-significant-digit radix sort of codes (see keys/key-codec.ts). It is stable in both directions, since
 * descending is a separate encoding. Each pass moves records of one to three 32-bit words between two arrays: the words
 * of the code, then the position if it is needed. It uses numbers only, because BigInt arithmetic is ten times slower.
 */
import { bytesOf, type HostColumn, keyWords } from '../../keys/array.js';
import { codeWordsOf, decodeRecords, encodeRecords } from '../../keys/codec-records.js';
import { keyCodec, type Order } from '../../keys/key-codec.js';
import { InputError } from '../../util/errors.js';
import type { Values } from '../model/column.js';
import { MAX_BUILT_IN_KEYS, MIN_WIDE_DIGIT_KEYS } from './policy.js';
import { copySteps, inSlices, runSync, type Steps } from './steps.js';

/** Order of a sort, and the window of the code's bits that it compares. */
export interface HostOrder extends Order {
  readonly bits?: readonly [begin: number, end: number] | undefined;
}

/** Destinations of the results. Results without a destination are not computed. */
export interface HostResult {
  /** Sorted keys; as many bytes as the input. */
  readonly sorted?: ArrayBufferView | undefined;
  readonly values?: Values<ArrayBufferView> | undefined;
  /** Values in the order of their keys; without `values`, the positions, with 4 or 8 bytes each. */
  readonly moved?: ArrayBufferView | undefined;
}

/** Longest array of records that V8 supports in every Node version that clsort supports. */
const MAX_WORDS = 2 ** 32 - 1;

const NARROW_DIGIT = 8;
const WIDE_DIGIT = 11;

/**
 * Sorts `keys`. Their memory does not change, unless the result is stored there.
 *
 * @throws InputError for more keys than 32-bit positions can distinguish
 */
export function hostSort(keys: HostColumn, order: HostOrder, result: HostResult): void {
  runSync(sortSteps(keys, order, result));
}

/** Sorts as `hostSort` does, in steps. */
export function* sortSteps(
  { view, info, dtype, n }: HostColumn,
  order: HostOrder,
  { sorted, values, moved }: HostResult,
): Steps {
  const codec = keyCodec(dtype, order);
  const [begin, end] = order.bits ?? [0, info.width];
  const codeWords = codeWordsOf(info);
  const stride = codeWords + (moved ? 1 : 0);
  if (n * stride > MAX_WORDS) {
    const maxKeys = Math.floor(MAX_WORDS / stride);
    throw new InputError(
      `cannot sort ${n} keys on the host: the limit is ${maxKeys} for this dtype. Sort them in parts`,
    );
  }
  const input = new Uint32Array(n * stride);
  yield* inSlices(n, (first, last) => {
    const records = recordsOf(input, stride, first, last);
    encodeRecords(view.subarray(first, last), records, stride, codec);
    if (moved) for (let i = first, at = codeWords; i < last; i++, at += stride) records[at] = i;
  });
  const areKeys = !moved && end - begin === info.width;
  const records =
    (areKeys && (yield* sortPredictable(input, stride))) ||
    (yield* sortRecords(input, stride, digitsOf(begin, end, n)));
  if (sorted) {
    const output = keyWords(sorted, info);
    yield* inSlices(n, (first, last) =>
      decodeRecords(recordsOf(records, stride, first, last), stride, output.subarray(first, last), codec),
    );
    if (output.buffer !== sorted.buffer) yield* copySteps(output, sorted);
  }
  if (!moved) return;
  const positions = new Uint32Array(n);
  yield* inSlices(n, (first, last) => {
    for (let i = first, at = first * stride + codeWords; i < last; i++, at += stride) {
      positions[i] = records[at] as number;
    }
  });
  if (!values)
    return yield* moved.byteLength === 8 * n ? widenSteps(positions, moved) : copySteps(positions, moved);
  const isInPlace = values.place.buffer === moved.buffer;
  yield* gatherSteps(
    isInPlace ? bytesOf(values.place).slice() : values.place,
    positions,
    values.bytes,
    moved,
  );
}

/** Copies numbers of 32 bits to an array of 64-bit numbers. */
function* widenSteps(from: Uint32Array, to: ArrayBufferView): Steps {
  const words = new Uint32Array(to.buffer, to.byteOffset, 2 * from.length); // the low word of a number is the first
  yield* inSlices(from.length, (start, end) => {
    words.fill(0, 2 * start, 2 * end);
    for (let i = start; i < end; i++) words[2 * i] = from[i] as number;
  });
}

const recordsOf = (records: Uint32Array, stride: number, first: number, last: number): Uint32Array =>
  records.subarray(first * stride, last * stride);

/** Moves values of `bytes` bytes, in steps: `to[i] = from[positions[i]]`. */
export function* gatherSteps(
  from: ArrayBufferView,
  positions: Uint32Array,
  bytes: number,
  to: ArrayBufferView,
): Steps {
  const aligned = (unit: number) => (bytes | from.byteOffset | to.byteOffset) % unit === 0;
  const unit = aligned(4) ? 4 : aligned(2) ? 2 : 1;
  const words = bytes / unit;
  const source = unitsOver(from, unit);
  const target = unitsOver(to, unit);
  yield* inSlices(positions.length, (start, end) =>
    gatherUnits(source, positions.subarray(start, end), words, target.subarray(start * words, end * words)),
  );
}

type Units = Uint8Array | Uint16Array | Uint32Array;

function gatherUnits(source: Units, positions: Uint32Array, words: number, target: Units): void {
  if (words === 1) {
    for (let i = 0; i < positions.length; i++) target[i] = source[positions[i] as number] as number;
    return;
  }
  let at = 0;
  for (let i = 0; i < positions.length; i++) {
    const first = (positions[i] as number) * words;
    for (let j = 0; j < words; j++) target[at++] = source[first + j] as number;
  }
}

function unitsOver({ buffer, byteOffset, byteLength }: ArrayBufferView, unit: 1 | 2 | 4): Units {
  if (unit === 4) return new Uint32Array(buffer, byteOffset, byteLength / 4);
  if (unit === 2) return new Uint16Array(buffer, byteOffset, byteLength / 2);
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** A digit: its location in a record, and its bits. */
interface Digit {
  readonly word: number;
  readonly shift: number;
  readonly bits: number;
}

/** Returns the digits of a window, the least significant first. No digit crosses a word. */
function digitsOf(begin: number, end: number, n: number): Digit[] {
  const widest = n < MIN_WIDE_DIGIT_KEYS ? NARROW_DIGIT : WIDE_DIGIT;
  return [0, 1].flatMap((word) => {
    const first = Math.max(begin - 32 * word, 0);
    const last = Math.min(end - 32 * word, 32);
    const passes = Math.max(0, Math.ceil((last - first) / widest));
    return Array.from({ length: passes }, (_, pass) => {
      const shift = first + Math.floor(((last - first) * pass) / passes);
      return { word, shift, bits: first + Math.floor(((last - first) * (pass + 1)) / passes) - shift };
    });
  });
}

/**
 * Sorts codes alone in place if there are few, or if they are in order or in reverse order.
 *
 * @returns undefined if passes are faster
 */
function* sortPredictable(records: Uint32Array, stride: number): Steps<Uint32Array | undefined> {
  const n = records.length / stride;
  const codes = stride === 1 ? records : new BigUint64Array(records.buffer); // the low word is the first
  if (n <= MAX_BUILT_IN_KEYS) {
    codes.sort();
    return records;
  }
  let [rises, falls] = [true, true];
  yield* inSlices(n, (first, last) => {
    // Slices overlap by one code, so that each code is compared with its predecessor.
    const slice = recordsOf(records, stride, Math.max(0, first - 1), last);
    rises &&= isMonotonic(slice, stride, 1);
    falls &&= isMonotonic(slice, stride, -1);
  });
  if (falls && !rises) codes.reverse();
  return rises || falls ? records : undefined;
}

/** Whether no code differs from its predecessor in the other direction than that of `sign`. */
function isMonotonic(records: Uint32Array, stride: number, sign: 1 | -1): boolean {
  for (let at = stride; at < records.length; at += stride) {
    const high = (records[at + stride - 1] as number) - (records[at - 1] as number);
    const rise = high === 0 ? (records[at] as number) - (records[at - stride] as number) : high;
    if (rise * sign < 0) return false;
  }
  return true;
}

/** Sorts records by one digit after the other. @returns the array that holds the result, `records` or another one */
function* sortRecords(records: Uint32Array, stride: number, digits: readonly Digit[]): Steps<Uint32Array> {
  const n = records.length / stride;
  let [from, to]: [Uint32Array, Uint32Array | undefined] = [records, undefined];
  for (const digit of digits) {
    const bins = new Uint32Array(1 << digit.bits);
    const source = from;
    yield* inSlices(n, (first, last) => count(recordsOf(source, stride, first, last), stride, digit, bins));
    if (bins.includes(n)) continue; // all records stay in place
    exclusiveScan(bins);
    const target: Uint32Array = to ?? new Uint32Array(records.length);
    yield* inSlices(n, (first, last) =>
      scatter(recordsOf(source, stride, first, last), stride, digit, bins, target),
    );
    [from, to] = [target, source];
  }
  return from;
}

function count(records: Uint32Array, stride: number, { word, shift, bits }: Digit, bins: Uint32Array): void {
  const mask = (1 << bits) - 1;
  for (let at = word; at < records.length; at += stride) {
    const digit = ((records[at] as number) >>> shift) & mask;
    bins[digit] = (bins[digit] as number) + 1;
  }
}

function exclusiveScan(bins: Uint32Array): void {
  let sum = 0;
  for (let bin = 0; bin < bins.length; bin++) {
    const count = bins[bin] as number;
    bins[bin] = sum;
    sum += count;
  }
}

/** Moves each record to the next place of its digit. */
function scatter(
  from: Uint32Array,
  stride: number,
  { word, shift, bits }: Digit,
  next: Uint32Array,
  to: Uint32Array,
): void {
  const mask = (1 << bits) - 1;
  for (let at = 0; at < from.length; at += stride) {
    const digit = ((from[at + word] as number) >>> shift) & mask;
    const index = next[digit] as number;
    next[digit] = index + 1;
    const place = index * stride;
    to[place] = from[at] as number;
    if (stride > 1) to[place + 1] = from[at + 1] as number;
    if (stride > 2) to[place + 2] = from[at + 2] as number;
  }
}
