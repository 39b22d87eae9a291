/** Finds the first key out of order in a stream of pieces, about as fast as it is read. */
import { type KeyWords, keyWords, newArray } from '../../keys/array.js';
import { codeWordsOf, encodeRecords } from '../../keys/codec-records.js';
import type { Dtype, DtypeInfo } from '../../keys/dtype.js';
import { decode, type KeyCodec, keyCodec, type Order } from '../../keys/key-codec.js';
import { keyValue } from '../../keys/value.js';
import { firstDescent, windowMask } from '../../sort/host/host-verify.js';
import type { Lines } from '../formats/axis.js';
import { isCertainlySorted } from './is-certainly-sorted.js';

/** The expected order of the keys of a file. */
export interface FileOrder extends Order {
  readonly dtype: Dtype;
  readonly bits: readonly [begin: number, end: number];
}

/** The first key that belongs before its predecessor. */
export interface Descent {
  /** Position of the key, from 0; row-major in a matrix. */
  readonly at: number;
  /** Its predecessor, in its row or column. */
  readonly before: number | bigint;
  readonly key: number | bigint;
}

/** Keys compared at a time: their codes stay in the cache. */
const SLICE = 2 ** 14;

export class OrderScan {
  /** Number of keys so far. */
  n = 0;
  descent: Descent | undefined;
  readonly #codec: KeyCodec;
  readonly #info: DtypeInfo;
  readonly #order: FileOrder;
  /** Keys per independently sorted row; infinite when all keys form one array. */
  readonly #columns: number;
  /** The codes of the last row, for columns that are sorted independently. */
  readonly #above: Uint32Array | undefined;
  #last: KeyWords | undefined;

  /**
   * @param order expected order
   * @param lines for a matrix: the rows or columns that are sorted independently
   */
  constructor(order: FileOrder, lines?: Lines) {
    this.#order = order;
    this.#codec = keyCodec(order.dtype, order);
    this.#info = this.#codec.dtype;
    this.#columns = lines?.columns ?? Number.POSITIVE_INFINITY;
    if (lines?.along === 'columns') this.#above = newArray('u32', lines.columns * codeWordsOf(this.#info));
  }

  /** Scans the next keys, as little-endian bytes. */
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

  /** Returns the position of the first key of a row that is below its predecessor; −1 when there is none. */
  #firstDescent(row: KeyWords): number {
    const { bits, descending = false } = this.#order;
    const isPlain = bits[0] === 0 && bits[1] === this.#info.width;
    for (let start = 0; start < row.length - 1; start += SLICE) {
      const slice = row.subarray(start, start + SLICE + 1); // includes the first key of the next slice
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

/** Returns the last key of one piece and the first key of the next. */
function joinPair(last: KeyWords, words: KeyWords): KeyWords {
  const pair = new (words.constructor as typeof Uint32Array)(2); // stands for all four types
  pair[0] = last[0] as number;
  pair[1] = words[0] as number;
  return pair;
}

const codeAt = (codes: Uint32Array, at: number, stride: number): bigint =>
  BigInt(codes[at] ?? 0) | (stride === 2 ? BigInt(codes[at + 1] ?? 0) << 32n : 0n);

/** Whether one code is below another, comparing the masked low and high words. */
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
