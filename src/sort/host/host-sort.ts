/**
 * The host engine: the executable specification of the order, and the sort for systems without an OpenCL device.
 *
 * A least-significant-digit radix sort of codes (see keys/key-codec.ts). It is stable in both directions, since
 * descending is a separate encoding. Each pass moves records of one to three 32-bit words between two arrays: the words
 * of the code, then one word that moves along, a position or a value. It uses numbers only, because BigInt arithmetic
 * is ten times slower.
 */
import { type HostColumn, type KeyWords, keyWords } from '../../keys/array.js';
import { codec32, codeWordsOf, decode32, decodeRecords, encodeRecords } from '../../keys/codec-records.js';
import { type KeyCodec, keyCodec, type Order } from '../../keys/key-codec.js';
import { InputError } from '../../util/errors.js';
import type { Values } from '../model/column.js';
import { copySteps, inSlices, runSync, SLICE, type Steps } from './steps.js';

/** Order of a sort, and the window of the code's bits that it compares. */
export interface HostOrder extends Order {
  readonly bits?: readonly [begin: number, end: number] | undefined;
}

/** Destinations of the results. Results without a destination are not computed. */
export interface HostResult {
  /** Sorted keys; as many bytes as the input. */
  readonly sorted?: ArrayBufferView | undefined;
  readonly values?: Values<ArrayBufferView> | undefined;
  /** Values in the order of their keys; without `values`, the positions as a Uint32Array. */
  readonly moved?: ArrayBufferView | undefined;
}

/** Longest array of records that V8 supports in every Node version that clsort supports. */
const MAX_WORDS = 2 ** 32 - 1;

/** Equal keys that one step writes, which takes a few milliseconds. */
const FILL_STEP_KEYS = 2 ** 22;

/** Below this number of keys, clearing and summing the bins of wide digits costs more than the saved passes. */
const MIN_WIDE_DIGIT_KEYS = 2048;
const MIN_COUNT_WORDS_KEYS = 65_536;
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
export function* sortSteps(keys: HostColumn, order: HostOrder, { sorted, values, moved }: HostResult): Steps {
  const { info, n } = keys;
  const codec = keyCodec(keys.dtype, order);
  const [begin, end] = order.bits ?? [0, info.width];
  const output = sorted && keyWords(sorted, info);
  if (output && !moved && end - begin === info.width && isCountable(keys.view)) {
    yield* countingSort(keys.view, output, codec);
  } else {
    const keysOnly = !moved && end - begin === info.width;
    yield* sortByDigits(
      keys,
      codec,
      { digits: hostDigitWindows(begin, end, n), keysOnly },
      { output, values, moved },
    );
  }
  if (sorted && output && output.buffer !== sorted.buffer) yield* copySteps(output, sorted);
}

function* sortByDigits(
  { view, info, n }: HostColumn,
  codec: KeyCodec,
  by: Comparison,
  { output, values, moved }: Omit<HostResult, 'sorted'> & { readonly output: KeyWords | undefined },
): Steps {
  const codeWords = codeWordsOf(info);
  const stride = codeWords + (moved ? 1 : 0);
  if (n * stride > MAX_WORDS) {
    const maxKeys = Math.floor(MAX_WORDS / stride);
    throw new InputError(
      `cannot sort ${n} keys on the host: the limit is ${maxKeys} for this dtype. Sort them in parts`,
    );
  }
  // Codes of keys alone that fill whole words are computed in the output array.
  const inOutput = output && stride * 4 === info.bytes;
  let records: Uint32Array = inOutput
    ? new Uint32Array(output.buffer, output.byteOffset, n * stride)
    : new Uint32Array(n * stride);
  yield* inSlices(n, (start, end) =>
    encodeRecords(view.subarray(start, end), recordsOf(records, stride, start, end), stride, codec),
  );
  const carried = values && carriedWords(values, n);
  if (moved) yield* inSlices(n, (start, end) => fillLastWord(records, stride, carried, start, end));
  records = yield* sortRecords(records, n, stride, by);
  if (output) {
    yield* inSlices(n, (start, end) =>
      decodeRecords(recordsOf(records, stride, start, end), stride, output.subarray(start, end), codec),
    );
  }
  if (!moved) return;
  if (carried || !values) {
    yield* takeLastWords(records, stride, moved);
  } else {
    const positions = new Uint32Array(n);
    yield* takeLastWords(records, stride, positions);
    yield* gatherSteps(values.place, positions, values.bytes, moved);
  }
}

const recordsOf = (records: Uint32Array, stride: number, start: number, end: number): Uint32Array =>
  records.subarray(start * stride, end * stride);

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

/**
 * Returns the values as words if they can move in the records, as aligned 32-bit words can. Others are gathered by
 * position.
 */
function carriedWords({ place, bytes }: Values<ArrayBufferView>, n: number): Uint32Array | undefined {
  if (bytes !== 4 || place.byteOffset % 4 !== 0) return undefined;
  return new Uint32Array(place.buffer, place.byteOffset, n);
}

/** A digit: its location in a record, and its bits. */
interface Digit {
  readonly word: number;
  readonly shift: number;
  readonly bits: number;
}

/** Digits that records are compared by. */
interface Comparison {
  readonly digits: readonly Digit[];
  /** Whether the digits are the whole record, so that records with equal digits are identical. */
  readonly keysOnly: boolean;
}

/**
 * Returns the digits of the window, the least significant first. No digit crosses a word, which costs at most one pass.
 */
function hostDigitWindows(begin: number, end: number, n: number): Digit[] {
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
 * Sorts records.
 *
 * The built-in sort handles codes alone that seem to have few distinct values or to be mostly sorted: its comparisons
 * are predictable there.
 *
 * Codes of two words that mostly differ in their high word are sorted by the high word only. The few codes with equal
 * high words are then adjacent, in input order, and an insertion sort orders them. Sorted records stay where they are.
 *
 * @returns the array that holds the result, `records` or another one
 */
function* sortRecords(
  records: Uint32Array,
  n: number,
  stride: number,
  { digits, keysOnly }: Comparison,
): Steps<Uint32Array> {
  const low = digits.filter(({ word }) => word === 0);
  const high = digits.filter(({ word }) => word === 1);
  if (yield* areInOrder(records, stride, maskOf(low), maskOf(high))) return records;
  if (keysOnly && n >= MIN_WIDE_DIGIT_KEYS && n <= MAX_BUILT_IN_KEYS && isPredictable(records, stride)) {
    return builtInSort(records, stride);
  }
  if (
    low.length > 1 &&
    high.length > 1 &&
    n >= MIN_WIDE_DIGIT_KEYS &&
    allDiffer(records, stride, maskOf(high))
  ) {
    records = yield* sortByPasses(records, n, stride, high);
    if (yield* insertByLowWord(records, stride, maskOf(low), maskOf(high))) return records;
  }
  return yield* sortByPasses(records, n, stride, digits);
}

function* sortByPasses(
  records: Uint32Array,
  n: number,
  stride: number,
  digits: readonly Digit[],
): Steps<Uint32Array> {
  let from = records;
  let to: Uint32Array | undefined;
  const scatter = stride === 1 ? scatter1 : stride === 2 ? scatter2 : scatter3;
  for (const word of [0, 1]) {
    const own = digits.filter((digit) => digit.word === word);
    const counts = yield* countDigits(from, word, stride, own);
    for (const [i, { shift, bits }] of own.entries()) {
      const mask = (1 << bits) - 1;
      const bins = counts[i] as Uint32Array;
      if (n === 0 || bins[((from[word] as number) >>> shift) & mask] === n) continue; // all records stay in place
      exclusiveScan(bins);
      to ??= new Uint32Array(from.length);
      const [source, target] = [from, to];
      yield* inSlices(n, (start, end) =>
        scatter(recordsOf(source, stride, start, end), target, word, shift, mask, bins),
      );
      [from, to] = [target, source];
    }
  }
  return from;
}

/** Returns the bits of a word that its digits cover. */
const maskOf = (digits: readonly Digit[]): number =>
  digits.reduce((mask, { shift, bits }) => mask | (((1 << bits) - 1) << shift), 0) >>> 0;

/** Whether the records are sorted. Unsorted records are usually detected within the first few. */
function* areInOrder(
  records: Uint32Array,
  stride: number,
  lowMask: number,
  highMask: number,
): Steps<boolean> {
  // Slices overlap by one record, so that each record is compared with its predecessor.
  for (let start = 0; start < records.length; start += SLICE * stride) {
    const slice = records.subarray(start, start + (SLICE + 1) * stride);
    if (!isSliceInOrder(slice, stride, lowMask, highMask)) return false;
    yield;
  }
  return true;
}

function isSliceInOrder(records: Uint32Array, stride: number, lowMask: number, highMask: number): boolean {
  let [lastLow, lastHigh] = [0, 0];
  for (let at = 0; at < records.length; at += stride) {
    // Codes of one word have no high word; the next word belongs to another record or lies past the end.
    const high = highMask === 0 ? 0 : ((records[at + 1] as number) & highMask) >>> 0;
    const low = ((records[at] as number) & lowMask) >>> 0;
    if (high < lastHigh || (high === lastHigh && low < lastLow)) return false;
    lastLow = low;
    lastHigh = high;
  }
  return true;
}

/** Records that are sampled to predict whether high words differ. */
const SAMPLE = 64;
/** Longest run of equal high words for which insertion is faster than further passes. */
const MAX_INSERTION_RUN = 32;

/** Maximum codes for the built-in sort, which cannot be interrupted: about ten milliseconds. */
const MAX_BUILT_IN_KEYS = 2 ** 17;

/** Whether the codes of a sample are often equal to their predecessor, or mostly above it, or mostly below it. */
function isPredictable(records: Uint32Array, stride: number): boolean {
  const step = Math.floor(records.length / stride / SAMPLE) * stride;
  const wordAt = (i: number, word: number): number =>
    word < stride ? (records[i * step + word] as number) : 0;
  let [same, above] = [0, 0];
  for (let i = 1; i < SAMPLE; i++) {
    const rise = wordAt(i, 1) - wordAt(i - 1, 1) || wordAt(i, 0) - wordAt(i - 1, 0);
    if (rise === 0) same++;
    else if (rise > 0) above++;
  }
  const below = SAMPLE - 1 - same - above;
  return same > SAMPLE / 4 || Math.max(above, below) > SAMPLE * 0.9;
}

/** Sorts codes in place; codes of two words have the low word first. */
function builtInSort(records: Uint32Array, stride: number): Uint32Array {
  const { buffer, byteOffset, length } = records;
  const codes = stride === 1 ? records : new BigUint64Array(buffer, byteOffset, length / 2);
  codes.sort();
  return records;
}

/** Whether the high words of a sample all differ. */
function allDiffer(records: Uint32Array, stride: number, mask: number): boolean {
  const step = Math.floor(records.length / stride / SAMPLE) * stride;
  const seen = new Set<number>();
  for (let i = 0; i < SAMPLE; i++) seen.add((records[i * step + 1] as number) & mask);
  return seen.size === SAMPLE;
}

/**
 * Sorts runs of records with equal high words by their low words, stably.
 *
 * @returns false when a run is too long; the records are then still a permutation, sorted by high words
 */
function* insertByLowWord(
  records: Uint32Array,
  stride: number,
  lowMask: number,
  highMask: number,
): Steps<boolean> {
  let start = 0;
  for (let first = stride; first < records.length; first += SLICE * stride) {
    const end = Math.min(first + SLICE * stride, records.length);
    start = insertRecords(records, stride, lowMask, highMask, start, first, end);
    if (start === -1) return false;
    yield;
  }
  return true;
}

/**
 * Inserts the records from `first` to `end`.
 *
 * @returns the start of the last run, or -1 when a run is too long
 */
function insertRecords(
  records: Uint32Array,
  stride: number,
  lowMask: number,
  highMask: number,
  start: number,
  first: number,
  end: number,
): number {
  let previous = ((records[start + 1] as number) & highMask) >>> 0;
  for (let at = first; at < end; at += stride) {
    const high = ((records[at + 1] as number) & highMask) >>> 0;
    if (high !== previous) {
      previous = high;
      start = at;
      continue;
    }
    if (at - start >= MAX_INSERTION_RUN * stride) return -1;
    const low = ((records[at] as number) & lowMask) >>> 0;
    let place = at;
    while (place > start && ((records[place - stride] as number) & lowMask) >>> 0 > low) place -= stride;
    if (place === at) continue;
    const [a, b, c] = [records[at] as number, records[at + 1] as number, records[at + 2] as number];
    records.copyWithin(place + stride, place, at);
    records[place] = a;
    records[place + 1] = b;
    if (stride === 3) records[place + 2] = c;
  }
  return start;
}

/**
 * Counts the digits of one word, up to three digits in one pass over the records.
 *
 * @returns the bins of each digit
 */
function* countDigits(
  records: Uint32Array,
  word: number,
  stride: number,
  digits: readonly Digit[],
): Steps<Uint32Array[]> {
  const bins = digits.map(({ bits }) => new Uint32Array(1 << bits));
  for (let i = 0; i < digits.length; i += 3) {
    const [a, b, c] = digits.slice(i, i + 3);
    const [x, y, z] = bins.slice(i, i + 3);
    yield* inSlices(records.length / stride, (start, end) => {
      const slice = recordsOf(records, stride, start, end);
      if (a && b && c && x && y && z) countThree(slice, word, stride, [a, b, c], [x, y, z]);
      else if (a && x) {
        countOne(slice, word, stride, a, x);
        if (b && y) countOne(slice, word, stride, b, y);
      }
    });
  }
  return bins;
}

function countOne(
  from: Uint32Array,
  word: number,
  stride: number,
  { shift, bits }: Digit,
  bins: Uint32Array,
): void {
  const mask = (1 << bits) - 1;
  for (let at = word; at < from.length; at += stride) {
    const digit = ((from[at] as number) >>> shift) & mask;
    bins[digit] = (bins[digit] as number) + 1;
  }
}

function countThree(
  from: Uint32Array,
  word: number,
  stride: number,
  [a, b, c]: readonly [Digit, Digit, Digit],
  [x, y, z]: readonly [Uint32Array, Uint32Array, Uint32Array],
): void {
  const [shiftA, shiftB, shiftC] = [a.shift, b.shift, c.shift];
  const [maskA, maskB, maskC] = [x.length - 1, y.length - 1, z.length - 1];
  for (let at = word; at < from.length; at += stride) {
    const code = from[at] as number;
    const digitA = (code >>> shiftA) & maskA;
    x[digitA] = (x[digitA] as number) + 1;
    const digitB = (code >>> shiftB) & maskB;
    y[digitB] = (y[digitB] as number) + 1;
    const digitC = (code >>> shiftC) & maskC;
    z[digitC] = (z[digitC] as number) + 1;
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

type Scatter = (
  from: Uint32Array,
  to: Uint32Array,
  word: number,
  shift: number,
  mask: number,
  next: Uint32Array,
) => void;

// One function for each record size, because these loops dominate the run time.

const scatter1: Scatter = (from, to, _word, shift, mask, next) => {
  for (let i = 0; i < from.length; i++) {
    const code = from[i] as number;
    const digit = (code >>> shift) & mask;
    const place = next[digit] as number;
    next[digit] = place + 1;
    to[place] = code;
  }
};

const scatter2: Scatter = (from, to, word, shift, mask, next) => {
  for (let i = 0; i < from.length; i += 2) {
    const digit = ((from[i + word] as number) >>> shift) & mask;
    const place = next[digit] as number;
    next[digit] = place + 1;
    to[place * 2] = from[i] as number;
    to[place * 2 + 1] = from[i + 1] as number;
  }
};

const scatter3: Scatter = (from, to, word, shift, mask, next) => {
  for (let i = 0; i < from.length; i += 3) {
    const digit = ((from[i + word] as number) >>> shift) & mask;
    const place = next[digit] as number;
    next[digit] = place + 1;
    to[place * 3] = from[i] as number;
    to[place * 3 + 1] = from[i + 1] as number;
    to[place * 3 + 2] = from[i + 2] as number;
  }
};

/** Writes a position, or a carried value, after each code. */
function fillLastWord(
  records: Uint32Array,
  stride: number,
  carried: Uint32Array | undefined,
  start: number,
  end: number,
): void {
  let at = start * stride + stride - 1;
  if (carried) for (let i = start; i < end; i++, at += stride) records[at] = carried[i] as number;
  else for (let i = start; i < end; i++, at += stride) records[at] = i;
}

function* takeLastWords(records: Uint32Array, stride: number, view: ArrayBufferView): Steps {
  const n = records.length / stride;
  const to =
    view.byteOffset % 4 === 0 ? new Uint32Array(view.buffer, view.byteOffset, n) : new Uint32Array(n);
  yield* inSlices(n, (start, end) => takeLastWord(records, stride, to, start, end));
  if (to.buffer !== view.buffer) yield* copySteps(to, view);
}

function takeLastWord(
  records: Uint32Array,
  stride: number,
  to: Uint32Array,
  start: number,
  end: number,
): void {
  let at = start * stride + stride - 1;
  for (let i = start; i < end; i++, at += stride) to[i] = records[at] as number;
}

/**
 * Whether counting every possible key is faster than passes: always for 8 bits, and from `MIN_COUNT_WORDS_KEYS` keys on
 * for 16.
 */
const isCountable = (view: KeyWords): view is Uint8Array | Uint16Array =>
  view.BYTES_PER_ELEMENT === 1 || (view.BYTES_PER_ELEMENT === 2 && view.length >= MIN_COUNT_WORDS_KEYS);

/** Sorts keys alone that have few possible values. Keys with equal codes are identical, so counts suffice. */
function* countingSort(keys: Uint8Array | Uint16Array, sorted: KeyWords, codec: KeyCodec): Steps {
  const numbers = codec32(codec);
  const counts = new Float64Array(numbers.mask + 1); // exact beyond 2^32
  yield* inSlices(keys.length, (start, end) => countKeys(keys.subarray(start, end), counts));
  const output = sorted as Uint8Array | Uint16Array;
  let place = 0;
  let since = 0;
  for (let code = 0; code <= numbers.mask; code++) {
    const key = decode32(numbers, code);
    const count = counts[key] as number;
    if (count === 0) continue;
    if (count <= FILL_STEP_KEYS) output.fill(key, place, place + count);
    else yield* inSlices(count, (from, to) => output.fill(key, place + from, place + to), FILL_STEP_KEYS);
    place += count;
    since += count;
    if (since < FILL_STEP_KEYS) continue;
    since = 0;
    yield;
  }
}

function countKeys(keys: Uint8Array | Uint16Array, counts: Float64Array): void {
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as number;
    counts[key] = (counts[key] as number) + 1;
  }
}
