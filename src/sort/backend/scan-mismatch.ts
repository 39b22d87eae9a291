import { codeWordsOf } from '../../keys/codec-records.js';
import { keyCodec } from '../../keys/key-codec.js';
import type { ScanOp } from '../../primitives/possible.js';
import { inSlices, type Steps } from '../host/steps.js';
import { type Column, wordsOf } from '../model/column.js';
import { ColumnCodes } from './column-codes.js';

/** Returns the index of the first wrong result, or -1. */
export function* findScanMismatch(from: Column, to: Column, op: ScanOp, inclusive: boolean): Steps<number> {
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
  const ofKeys = new ColumnCodes(from, codec);
  const ofResults = new ColumnCodes(to, codec);
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
