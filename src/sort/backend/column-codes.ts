import { codeWordsOf, encodeRecords } from '../../keys/codec-records.js';
import type { KeyCodec } from '../../keys/key-codec.js';
import { windowMask } from '../host/host-verify.js';
import { SLICE } from '../host/policy.js';
import { type Column, wordsOf } from '../model/column.js';

/** Codes of a column, one slice at a time. */
export class ColumnCodes {
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
