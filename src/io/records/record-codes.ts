/**
 * Encodes the keys of a record as one byte string, first key first, whose order as unsigned bytes (memcmp) is the order
 * of the records. Numbers are encoded by the key codec, most significant byte first. Byte keys are copied, and
 * complemented in descending order.
 */
import { type KeyWords, keyWords } from '../../keys/array.js';
import { codeWordsOf, encodeRecords } from '../../keys/codec-records.js';
import { type DtypeInfo, dtypeInfo } from '../../keys/dtype.js';
import { type KeyCodec, keyCodec } from '../../keys/key-codec.js';
import { inSlices, type Steps } from '../../sort/host/steps.js';
import { type Span, WORD_BYTES } from '../../sort/operations/strings/code-order.js';
import { SLICE } from './policy.js';
import { isNumberKey, keyBytes, type NumberKey, type RecordKey } from './record-keys.js';

/** The records of a piece: all in order, or those at the given positions. */
export interface Records {
  readonly bytes: Uint8Array;
  readonly at?: Uint32Array | undefined;
}

/** A key and its place in the code. */
interface Part {
  readonly key: RecordKey;
  /** Byte offset in the code. */
  readonly begin: number;
  readonly length: number;
  /** Defined for numbers. */
  readonly coder?: NumberCoder;
}

export class RecordCodes {
  readonly record: number;
  /** Length of a code in bytes. */
  readonly bytes: number;
  readonly #parts: readonly Part[];

  /**
   * @param record record size in bytes
   * @param keys keys checked by `recordKeys`
   */
  constructor(record: number, keys: readonly RecordKey[]) {
    let bytes = 0;
    this.#parts = keys.map((key): Part => {
      const begin = bytes;
      const length = keyBytes(key);
      bytes += length;
      return { key, begin, length, ...(isNumberKey(key) && { coder: new NumberCoder(record, key) }) };
    });
    this.record = record;
    this.bytes = bytes;
  }

  /**
   * Writes bytes `begin` to `end` of each code, as a number, into 64-bit little-endian words.
   *
   * @param records the records
   * @param span the range of bytes
   * @param words output; must be zeroed when the span is shorter than a word
   */
  *fill(records: Records, span: Span, words: BigUint64Array): Steps {
    const out = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
    yield* inSlices(words.length, (start, end) => this.#fillSlice(records, start, end, span, out), SLICE);
  }

  #fillSlice(records: Records, start: number, end: number, span: Span, out: Uint8Array): void {
    for (const { key, begin, length, coder } of this.#parts) {
      const [from, to] = [Math.max(begin, span.begin), Math.min(begin + length, span.end)];
      if (from >= to) continue;
      const codes = coder?.encode(records, start, end);
      const flip = !coder && key.descending ? 0xff : 0;
      for (let byte = from; byte < to; byte++) {
        // Words are little-endian, so the last byte of the span comes first.
        const column = out.subarray(start * WORD_BYTES + span.end - 1 - byte);
        if (coder && codes)
          copyCodeBytes(codes, begin + length - 1 - byte, column, end - start, coder.stride);
        else copyColumn(records, key.offset + byte - begin, this.record, flip, start, end, column);
      }
    }
  }

  /**
   * Compares the record at byte `x` of `a` with that at byte `y` of `b`.
   *
   * @returns a negative number, 0 or a positive number
   */
  compare(a: Uint8Array, x: number, b: Uint8Array, y: number): number {
    for (const { key, length, coder } of this.#parts) {
      const [i, j] = [x + key.offset, y + key.offset];
      for (let k = 0; k < length; k++) {
        const difference = (a[i + k] as number) - (b[j + k] as number);
        if (difference === 0) continue;
        if (coder) return coder.compare(a, i, b, j);
        return key.descending ? -difference : difference;
      }
    }
    return 0;
  }
}

/** Copies the byte at one offset of each record to every eighth byte. */
function copyColumn(
  { bytes, at }: Records,
  offset: number,
  record: number,
  flip: number,
  start: number,
  end: number,
  to: Uint8Array,
): void {
  if (at) {
    for (let i = start, j = 0; i < end; i++, j += WORD_BYTES) {
      to[j] = (bytes[(at[i] as number) * record + offset] as number) ^ flip;
    }
    return;
  }
  let from = start * record + offset;
  for (let i = start, j = 0; i < end; i++, j += WORD_BYTES, from += record) {
    to[j] = (bytes[from] as number) ^ flip;
  }
}

/** Copies one byte of each code to every eighth byte; byte 0 is the least significant. */
function copyCodeBytes(codes: Uint32Array, byte: number, to: Uint8Array, n: number, stride: number): void {
  const word = byte >> 2;
  const shift = (byte & 3) * 8;
  for (let i = 0, j = 0; i < n; i++, j += WORD_BYTES) to[j] = (codes[i * stride + word] as number) >>> shift;
}

/** Encodes one number of each record. */
class NumberCoder {
  /** 32-bit words per code. */
  readonly stride: number;
  readonly #record: number;
  readonly #offset: number;
  readonly #isBigEndian: boolean;
  readonly #info: DtypeInfo;
  readonly #codec: KeyCodec;
  readonly #raw: Uint8Array;
  readonly #keys: KeyWords;
  /** The first two keys. */
  readonly #two: KeyWords;
  readonly #codes: Uint32Array;

  constructor(record: number, { offset, dtype, endian, descending = false, nan = 'last' }: NumberKey) {
    this.#record = record;
    this.#offset = offset;
    this.#isBigEndian = endian === 'be';
    this.#info = dtypeInfo(dtype);
    this.#codec = keyCodec(dtype, { descending, nan });
    this.stride = codeWordsOf(this.#info);
    this.#raw = new Uint8Array(SLICE * this.#info.bytes);
    this.#keys = keyWords(this.#raw, this.#info);
    this.#two = this.#keys.subarray(0, 2);
    this.#codes = new Uint32Array(SLICE * this.stride);
  }

  /** Returns the codes of records `start` to `end`, lowest word first; valid until the next call. */
  encode({ bytes, at }: Records, start: number, end: number): Uint32Array {
    const width = this.#info.bytes;
    const raw = this.#raw;
    for (let k = 0; k < width; k++) {
      const offset = this.#offset + (this.#isBigEndian ? width - 1 - k : k);
      for (let i = start, j = k; i < end; i++, j += width) {
        raw[j] = bytes[(at ? (at[i] as number) : i) * this.#record + offset] as number;
      }
    }
    encodeRecords(this.#keys.subarray(0, end - start), this.#codes, this.stride, this.#codec);
    return this.#codes;
  }

  /** Compares the number at byte `i` of `a` with that at byte `j` of `b`. */
  compare(a: Uint8Array, i: number, b: Uint8Array, j: number): number {
    const width = this.#info.bytes;
    for (let k = 0; k < width; k++) {
      const at = this.#isBigEndian ? width - 1 - k : k;
      this.#raw[k] = a[i + at] as number;
      this.#raw[width + k] = b[j + at] as number;
    }
    encodeRecords(this.#two, this.#codes, this.stride, this.#codec);
    for (let word = this.stride - 1; word >= 0; word--) {
      const difference = (this.#codes[word] as number) - (this.#codes[this.stride + word] as number);
      if (difference !== 0) return difference;
    }
    return 0;
  }
}
