import { codeWordsOf, encodeRecords } from '../../keys/codec-records.js';
import { type KeyCodec, keyCodec } from '../../keys/key-codec.js';
import type { ScanOp } from '../../primitives/possible.js';
import { ElementSum } from '../host/element-sum.js';
import { windowMask } from '../host/host-verify.js';
import { SLICE } from '../host/policy.js';
import { inSlices, runYielding, type Steps } from '../host/steps.js';
import { type Column, column, wordsOf } from '../model/column.js';
import type { ColumnSelection } from './column-kernels.js';
import type { ColumnVerifier, DeferredVerdict, TopResult } from './column-verifier.js';
import { HostColumnKernels } from './host-column-kernels.js';
import {
  wrongCounts,
  wrongDistinctKeys,
  wrongSelection,
  wrongSelectionCount,
  wrongTopCount,
  wrongTopKeys,
} from './verification-failures.js';

/** Column verifiers on the host. Their verdicts are known when they return. */
export class HostColumnVerifier implements ColumnVerifier {
  readonly #signal: AbortSignal | undefined;

  /** @param signal makes a check throw an AbortedError */
  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  async scan(from: Column, to: Column, op: ScanOp, inclusive: boolean): Promise<DeferredVerdict> {
    const wrong = await this.#run(findScanMismatch(from, to, op, inclusive));
    return () => (wrong < 0 ? undefined : `result ${wrong} of ${from.n} is incorrect`);
  }

  async compact(
    keys: Column,
    selection: ColumnSelection,
    to: Column,
    rest: boolean,
    count: () => number,
  ): Promise<DeferredVerdict> {
    const found = await this.#run(findSelectionMismatch(keys, selection, to, rest, count()));
    return () => found;
  }

  async unique(keys: Column, distinct: Column, counts: Column, codec: KeyCodec): Promise<DeferredVerdict> {
    const kernels = new HostColumnKernels(this.#signal);
    const canonical = async (from: Column): Promise<Column> => {
      const copy = column(from.dtype, from.n, wordsOf(from).slice());
      await kernels.canonical(from, copy);
      return copy;
    };
    const found = await this.#run(
      findDistinctMismatch(await canonical(keys), await canonical(distinct), counts, codec),
    );
    return () => found;
  }

  async top(keys: Column, result: TopResult): Promise<DeferredVerdict> {
    const found = await this.#run(findTopMismatch(keys, result));
    return () => found;
  }

  #run<T>(steps: Steps<T>): Promise<T> {
    return runYielding(steps, this.#signal);
  }
}

/** Returns the index of the first wrong result, or -1. */
function* findScanMismatch(from: Column, to: Column, op: ScanOp, inclusive: boolean): Steps<number> {
  if (op === 'min' || op === 'max') return yield* findExtremeMismatch(from, to, op, inclusive);
  if (from.info.kind === 'float') return yield* findRoundingMismatch(from, to, op, inclusive);
  const bits = from.info.width;
  const [keys, out] = [wordsOf(from), wordsOf(to)];
  let at = -1;
  if (keys instanceof BigUint64Array) {
    let value = op === 'sum' ? 0n : 1n;
    yield* inSlices(from.n, (start, end) => {
      for (let i = start; i < end && at < 0; i++) {
        const key = keys[i] as bigint;
        const next = BigInt.asUintN(64, op === 'sum' ? value + key : value * key);
        if (out[i] !== (inclusive ? next : value)) at = i;
        value = next;
      }
    });
    return at;
  }
  const mask = bits === 32 ? 0xffff_ffff : 2 ** bits - 1;
  let value = op === 'sum' ? 0 : 1;
  yield* inSlices(from.n, (start, end) => {
    for (let i = start; i < end && at < 0; i++) {
      const key = keys[i] as number;
      const next = ((op === 'sum' ? value + key : Math.imul(value, key)) & mask) >>> 0;
      if (out[i] !== (inclusive ? next : value)) at = i;
      value = next;
    }
  });
  return at;
}

/** Compares codes: each result is the extreme of the previous result and the key. */
function* findExtremeMismatch(
  from: Column,
  to: Column,
  op: 'min' | 'max',
  inclusive: boolean,
): Steps<number> {
  const codec = keyCodec(from.dtype, { nan: op === 'min' ? 'first' : 'last' });
  const stride = codeWordsOf(from.info);
  const ofKeys = new Codes(from, codec);
  const ofResults = new Codes(to, codec);
  const edge = op === 'min' ? 0xffff_ffff >>> (32 - Math.min(32, from.info.width)) : 0;
  let [low, high] = [edge, stride === 2 ? edge : 0];
  let at = -1;
  const take = (i: number): void => {
    const [l, h] = [ofKeys.low(i), ofKeys.high(i)];
    const isMore = h > high || (h === high && l > low);
    if (isMore === (op === 'max')) [low, high] = [l, h];
  };
  yield* inSlices(from.n, (start, end) => {
    ofKeys.encode(start, end);
    ofResults.encode(start, end);
    for (let i = start; i < end && at < 0; i++) {
      if (inclusive) take(i);
      if (ofResults.low(i) !== low || ofResults.high(i) !== high) at = i;
      if (!inclusive) take(i);
    }
  });
  return at;
}

/** Codes of a column, one slice at a time. */
class Codes {
  readonly #words: ReturnType<typeof wordsOf>;
  readonly #codec: KeyCodec;
  readonly #stride: number;
  readonly #codes: Uint32Array;
  readonly #low: number;
  readonly #high: number;
  #start = 0;

  constructor(of: Column, codec: KeyCodec, [begin, end] = [0, of.info.width] as readonly [number, number]) {
    this.#words = wordsOf(of);
    this.#codec = codec;
    this.#stride = codeWordsOf(of.info);
    this.#codes = new Uint32Array(Math.min(SLICE, of.n) * this.#stride);
    this.#low = windowMask(begin, end);
    this.#high = windowMask(begin - 32, end - 32);
  }

  /** Encodes the elements from `start` to `end`, at most `SLICE` of them, for `low` and `high`. */
  encode(start: number, end: number): void {
    this.#start = start;
    const codes = this.#codes.subarray(0, (end - start) * this.#stride);
    encodeRecords(this.#words.subarray(start, end), codes, this.#stride, this.#codec);
  }

  /** Returns the low word of a code, without bits outside the window. */
  low(i: number): number {
    return ((this.#codes[(i - this.#start) * this.#stride] as number) & this.#low) >>> 0;
  }

  high(i: number): number {
    if (this.#stride === 1) return 0;
    return ((this.#codes[(i - this.#start) * 2 + 1] as number) & this.#high) >>> 0;
  }
}

/**
 * Compares sums and products of floats with those computed in doubles, within the bounds of float scans. It accepts all
 * results after a place where partial results may leave the range of the dtype.
 */
function* findRoundingMismatch(from: Column, to: Column, op: ScanOp, inclusive: boolean): Steps<number> {
  const Floats = from.dtype === 'f32' ? Float32Array : Float64Array;
  const floats = (of: Column) => {
    const { buffer, byteOffset } = wordsOf(of);
    return new Floats(buffer as ArrayBuffer, byteOffset, of.n);
  };
  const [keys, out] = [floats(from), floats(to)];
  const epsilon = from.dtype === 'f32' ? 2 ** -23 : 2 ** -52;
  const reference =
    op === 'sum'
      ? new CompensatedSum(from.dtype, epsilon, from.n)
      : new ReferenceProduct(from.dtype, epsilon);
  let at = -1;
  yield* inSlices(from.n, (start, end) => {
    for (let i = start; i < end && at < 0; i++) {
      if (inclusive) reference.take(keys[i] as number);
      if (!reference.allows(out[i] as number)) at = i;
      if (!inclusive) reference.take(keys[i] as number);
    }
  });
  return at;
}

/** A sum with compensation of its rounding error (A. Neumaier, 1974). */
class CompensatedSum {
  readonly #relativeTolerance: number;
  readonly #largest: number;
  #sum = 0;
  #error = 0;
  #magnitudes = 0;
  /** Sum of the infinities and NaNs. */
  #special = 0;

  constructor(dtype: string, epsilon: number, n: number) {
    this.#relativeTolerance = 4 * Math.max(1, Math.log2(n)) * epsilon;
    this.#largest = dtype === 'f32' ? 2 ** 127 : Number.MAX_VALUE / 2;
  }

  take(key: number): void {
    if (!Number.isFinite(key)) {
      this.#special += key;
      return;
    }
    const next = this.#sum + key;
    this.#error += Math.abs(this.#sum) >= Math.abs(key) ? this.#sum - next + key : key - next + this.#sum;
    this.#sum = next;
    this.#magnitudes += Math.abs(key);
  }

  allows(result: number): boolean {
    if (!(this.#magnitudes < this.#largest)) return true;
    if (this.#special !== 0) return Object.is(result, this.#special);
    return Math.abs(result - (this.#sum + this.#error)) <= this.#relativeTolerance * this.#magnitudes;
  }
}

class ReferenceProduct {
  readonly #epsilon: number;
  readonly #range: number;
  #product = 1;
  #factors = 0;
  /** How far partial products can be from 1, as a power of two. */
  #exponentRange = 0;

  constructor(dtype: string, epsilon: number) {
    this.#epsilon = epsilon;
    this.#range = dtype === 'f32' ? 125 : 1021;
  }

  take(key: number): void {
    this.#product *= key;
    this.#factors++;
    if (key !== 0) this.#exponentRange += Math.abs(Math.log2(Math.abs(key)));
  }

  allows(result: number): boolean {
    if (!(this.#exponentRange < this.#range)) return true;
    return Math.abs(result - this.#product) <= 2 * this.#factors * this.#epsilon * Math.abs(this.#product);
  }
}

function* findSelectionMismatch(
  keys: Column,
  selection: ColumnSelection,
  to: Column,
  rest: boolean,
  count: number,
): Steps<string | undefined> {
  const [words, out] = [wordsOf(keys), wordsOf(to)];
  const mask = 'mask' in selection ? (wordsOf(selection.mask) as Uint8Array) : undefined;
  const range = 'low' in selection ? selection : { low: 0n, high: 0n, not: false };
  const codes = new Codes(keys, keyCodec(keys.dtype));
  const wordOf = (code: bigint, word: number): number => Number((code >> BigInt(32 * word)) & 0xffff_ffffn);
  const [lowFrom, highFrom] = [wordOf(range.low, 0), wordOf(range.low, 1)];
  const [lowTo, highTo] = [wordOf(range.high, 0), wordOf(range.high, 1)];
  const isInside = (i: number): boolean => {
    const [low, high] = [codes.low(i), codes.high(i)];
    const isBelow = high < highFrom || (high === highFrom && low < lowFrom);
    const isAbove = high > highTo || (high === highTo && low > lowTo);
    return (!isBelow && !isAbove) !== range.not;
  };
  let [chosen, others, same] = [0, 0, true];
  yield* inSlices(keys.n, (start, end) => {
    if (!mask) codes.encode(start, end);
    for (let i = start; i < end; i++) {
      const isChosen = mask ? mask[i] !== 0 : isInside(i);
      if (!isChosen && !rest) continue;
      const place = isChosen ? chosen++ : count + others++;
      if (out[place] !== words[i]) same = false;
    }
  });
  if (chosen !== count) return wrongSelectionCount(count, chosen);
  return same && (rest || to.n === count) ? undefined : wrongSelection;
}

/** @param keys canonicalized, as is `distinct` */
function* findDistinctMismatch(
  keys: Column,
  distinct: Column,
  counts: Column,
  codec: KeyCodec,
): Steps<string | undefined> {
  const times = wordsOf(counts) as Uint32Array;
  const codes = new Codes(distinct, codec);
  let [wrong, low, high] = [0, -1, -1];
  yield* inSlices(distinct.n, (start, end) => {
    codes.encode(start, end);
    for (let i = start; i < end; i++) {
      const [l, h] = [codes.low(i), codes.high(i)];
      if (times[i] === 0 || h < high || (h === high && l <= low)) wrong++;
      [low, high] = [l, h];
    }
  });
  if (wrong > 0) return wrongDistinctKeys(wrong, distinct.n);
  const [before, after] = [new ElementSum(), new ElementSum()];
  yield* before.addKeys(wordsOf(keys), {});
  yield* after.addKeys(wordsOf(distinct), { times });
  return before.equals(after) ? undefined : wrongCounts;
}

function* findTopMismatch(
  keys: Column,
  { keys: top, positions, segments, k, codec, bits }: TopResult,
): Steps<string | undefined> {
  const [words, found, at] = [wordsOf(keys), wordsOf(top), wordsOf(positions) as Uint32Array];
  const offsets = segments ? (wordsOf(segments.offsets) as Uint32Array) : Uint32Array.of(0, keys.n);
  const begins = segments ? (wordsOf(segments.begins) as Uint32Array) : Uint32Array.of(0, top.n);
  const count = offsets.length - 1;
  const codes = new Codes(top, codec, bits);
  const lastCodes = new LastCodes(begins);
  let [wrong, counted] = [begins[0] === 0 ? 0 : 1, 0];
  for (let s = 0; s < count; s++) {
    const length = (offsets[s + 1] as number) - (offsets[s] as number);
    if ((begins[s + 1] as number) - (begins[s] as number) !== Math.min(length, k)) wrong++;
    if (s % SLICE === SLICE - 1) yield;
  }
  if (wrong > 0 || begins[count] !== top.n) return `${wrong} segments have more or fewer results than ${k}`;
  let [segment, low, high] = [0, 0, 0];
  yield* inSlices(top.n, (start, end) => {
    codes.encode(start, end);
    for (let i = start; i < end; i++) {
      while (i >= (begins[segment + 1] as number)) segment++;
      const begin = offsets[segment] as number;
      const position = (at[i] as number) + (segments?.fromSegment ? begin : 0);
      const isInside = position >= begin && position < (offsets[segment + 1] as number);
      if (!isInside || words[position] !== found[i]) wrong++;
      const [l, h] = [codes.low(i), codes.high(i)];
      if (i > (begins[segment] as number)) {
        const isEqual = l === low && h === high;
        if (h < high || (h === high && l < low) || (isEqual && (at[i] as number) <= (at[i - 1] as number))) {
          wrong++;
        }
      }
      [low, high] = [l, h];
      lastCodes.record(i, segment, l, h);
    }
  });
  if (wrong > 0) return wrongTopKeys(wrong, top.n);
  const ofKeys = new Codes(keys, codec, bits);
  segment = 0;
  yield* inSlices(keys.n, (start, end) => {
    ofKeys.encode(start, end);
    for (let i = start; i < end; i++) {
      while (i >= (offsets[segment + 1] as number)) segment++;
      const last = (begins[segment + 1] as number) - 1;
      if (last < (begins[segment] as number)) continue;
      const [l, h] = [ofKeys.low(i), ofKeys.high(i)];
      const [lastLow, lastHigh] = [lastCodes.low[segment] as number, lastCodes.high[segment] as number];
      const position = (at[last] as number) + (segments?.fromSegment ? (offsets[segment] as number) : 0);
      const isEqual = h === lastHigh && l === lastLow;
      if (h < lastHigh || (h === lastHigh && l < lastLow) || (isEqual && i <= position)) counted++;
    }
  });
  return counted === top.n ? undefined : wrongTopCount(counted, top.n);
}

/** Code of the last result of each segment. */
class LastCodes {
  readonly low: Uint32Array;
  readonly high: Uint32Array;
  readonly #begins: Uint32Array;

  constructor(begins: Uint32Array) {
    this.#begins = begins;
    this.low = new Uint32Array(begins.length);
    this.high = new Uint32Array(begins.length);
  }

  record(i: number, segment: number, low: number, high: number): void {
    if (i + 1 !== this.#begins[segment + 1]) return;
    this.low[segment] = low;
    this.high[segment] = high;
  }
}
