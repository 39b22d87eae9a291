/** The search for a key out of order in keys that come in pieces, about as fast as they are read. */
import { type KeyWords, keyWords, newArray } from '../keys/array.js';
import { codeWordsOf, encodeRecords } from '../keys/codec-records.js';
import type { Dtype, DtypeInfo } from '../keys/dtype.js';
import { decode, type KeyCodec, keyCodec, type Order } from '../keys/key-codec.js';
import { keyValue } from '../keys/value.js';
import { firstDescent, windowMask } from '../sort/host/host-verify.js';
import type { Lines } from './axis.js';
import { isCertainlySorted } from './is-certainly-sorted.js';

/** How the keys of a file are to stand. */
export interface FileOrder extends Order {
  readonly dtype: Dtype;
  readonly bits: readonly [begin: number, end: number];
}

/** The first key that is smaller, in the wanted order, than the one before it. */
export interface Descent {
  /** Position of the key, from 0; in a matrix row by row. */
  readonly at: number;
  /** The key before it: in its row, or in its column. */
  readonly before: number | bigint;
  readonly key: number | bigint;
}

/** Keys that are compared at a time. */
const SLICE = 2 ** 14;

export class OrderScan {
  /** Keys so far. */
  n = 0;
  descent: Descent | undefined;
  readonly #codec: KeyCodec;
  readonly #info: DtypeInfo;
  readonly #order: FileOrder;
  /** Keys in a row that is in order by itself; as many as may be where all keys are one. */
  readonly #columns: number;
  /** Of columns that are in order by themselves: the last row, as codes. */
  readonly #above: Uint32Array | undefined;
  #last: KeyWords | undefined;

  /** @param lines of a matrix: what is in order by itself */
  constructor(order: FileOrder, lines?: Lines) {
    this.#order = order;
    this.#codec = keyCodec(order.dtype, order);
    this.#info = this.#codec.dtype;
    this.#columns = lines?.columns ?? Number.POSITIVE_INFINITY;
    if (lines?.along === 'columns') {
      this.#above = newArray('u32', lines.columns * codeWordsOf(this.#info));
    }
  }

  /** Looks at the next keys, as little-endian bytes. */
  add(piece: Uint8Array): void {
    if (!this.descent && piece.length > 0) {
      const words = keyWords(piece, this.#info);
      if (this.#above) this.#addBelow(words, this.#above);
      else this.#addRows(words);
      this.#last = words.slice(-1);
    }
    this.n += piece.length / this.#info.bytes;
  }

  #addRows(words: KeyWords): void {
    const inRow = this.n % this.#columns;
    if (inRow > 0 && this.#last && this.#firstDescent(joinPair(this.#last, words)) !== -1) {
      this.#recordDescent(0, this.#last, words);
      return;
    }
    for (
      let start = 0, end = this.#columns - inRow;
      start < words.length;
      start = end, end += this.#columns
    ) {
      const row = words.subarray(start, end);
      const at = this.#firstDescent(row);
      if (at === -1) continue;
      this.#recordDescent(start + at, row.subarray(at - 1), row.subarray(at));
      return;
    }
  }

  /** Position of the first key of a row that is below the one before it, −1 where there is none. */
  #firstDescent(row: KeyWords): number {
    const { bits, descending = false } = this.#order;
    const isPlain = bits[0] === 0 && bits[1] === this.#info.width;
    for (let start = 0; start < row.length - 1; start += SLICE) {
      const slice = row.subarray(start, start + SLICE + 1); // with the first one of the next
      if (isPlain && isCertainlySorted(slice, this.#info, descending)) continue;
      const at = firstDescent(slice, this.#codec, bits);
      if (at !== -1) return start + at;
    }
    return -1;
  }

  #addBelow(words: KeyWords, above: Uint32Array): void {
    const stride = codeWordsOf(this.#info);
    const codes = new Uint32Array(Math.min(SLICE, words.length) * stride);
    const [begin, end] = this.#order.bits;
    const low = windowMask(begin, end);
    const masks = stride === 1 ? ([low] as const) : ([low, windowMask(begin - 32, end - 32)] as const);
    for (let start = 0; start < words.length; start += SLICE) {
      const slice = words.subarray(start, start + SLICE);
      encodeRecords(slice, codes.subarray(0, slice.length * stride), stride, this.#codec);
      for (let i = 0, at = this.n + start; i < slice.length; i++, at++) {
        const cell = (at % this.#columns) * stride;
        if (at >= this.#columns && isCodeBelow(codes, i * stride, above, cell, masks)) {
          const before = decode(this.#codec, codeAt(above, cell, stride));
          this.#recordDescent(start + i, [before], slice.subarray(i));
          return;
        }
        for (let word = 0; word < stride; word++) above[cell + word] = codes[i * stride + word] as number;
      }
    }
  }

  #recordDescent(at: number, before: ArrayLike<number | bigint>, key: KeyWords): void {
    const decodeKey = (words: ArrayLike<number | bigint>) => keyValue(BigInt(words[0] ?? 0), this.#info);
    this.descent = { at: this.n + at, before: decodeKey(before), key: decodeKey(key) };
  }
}

/** The last key of one piece, and the first of the next. */
function joinPair(last: KeyWords, words: KeyWords): KeyWords {
  const pair = new (words.constructor as typeof Uint32Array)(2); // stands for all four
  pair[0] = last[0] as number;
  pair[1] = words[0] as number;
  return pair;
}

const codeAt = (codes: Uint32Array, at: number, stride: number): bigint =>
  BigInt(codes[at] ?? 0) | (stride === 2 ? BigInt(codes[at + 1] ?? 0) << 32n : 0n);

/** Whether one code is below another one, of what the masks of their low and high words leave. */
function isCodeBelow(
  codes: Uint32Array,
  at: number,
  others: Uint32Array,
  other: number,
  [low, high]: readonly [low: number, high?: number | undefined],
): boolean {
  if (high !== undefined) {
    const [a, b] = [((codes[at + 1] ?? 0) & high) >>> 0, ((others[other + 1] ?? 0) & high) >>> 0];
    if (a !== b) return a < b;
  }
  return ((codes[at] ?? 0) & low) >>> 0 < ((others[other] ?? 0) & low) >>> 0;
}
