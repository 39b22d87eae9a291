/**
 * The key codec for whole arrays, in numbers instead of BigInts. It is an order of magnitude faster than `encode` and
 * `decode` of key-codec.ts, against which tests compare it.
 *
 * A record is `stride` 32-bit words: the one or two words of a code, low word first, then words of the caller. Signs
 * of real data are hard to predict, so nothing here branches on them.
 */
import type { KeyWords } from './array.js';
import type { DtypeInfo } from './dtype.js';
import type { KeyCodec } from './key-codec.js';

/** Returns the number of 32-bit words that the code of a key takes in a record. */
export const codeWordsOf = ({ width }: DtypeInfo): 1 | 2 => (width === 64 ? 2 : 1);

/** Writes the codes of `keys`. `records` may be the memory of the keys if it has as many words. */
export function encodeRecords(keys: KeyWords, records: Uint32Array, stride: number, codec: KeyCodec): void {
  const words = wholeWords(keys);
  if (words && codec.identity && stride === codeWordsOf(codec.dtype)) {
    records.set(words);
    return;
  }
  if (words && codec.dtype.kind !== 'float') {
    flipWords({ from: words, step: codeWordsOf(codec.dtype) }, { to: records, step: stride }, codec);
    return;
  }
  if (words && codec.dtype.width === 64) {
    encode64(words, records, stride, codec);
    return;
  }
  const numbers = codec32(codec);
  for (let i = 0, at = 0; i < keys.length; i++, at += stride) {
    records[at] = encode32(numbers, keys[i] as number);
  }
}

/** Inverse of `encodeRecords`. */
export function decodeRecords(records: Uint32Array, stride: number, keys: KeyWords, codec: KeyCodec): void {
  const words = wholeWords(keys);
  if (words && codec.identity && stride === codeWordsOf(codec.dtype)) {
    words.set(records);
    return;
  }
  if (words && codec.dtype.kind !== 'float') {
    flipWords({ from: records, step: stride }, { to: words, step: codeWordsOf(codec.dtype) }, codec);
    return;
  }
  if (words && codec.dtype.width === 64) {
    decode64(records, stride, words, codec);
    return;
  }
  const numbers = codec32(codec);
  for (let i = 0, at = 0; i < keys.length; i++, at += stride) {
    keys[i] = decode32(numbers, records[at] as number);
  }
}

/** Returns the keys as 32-bit words; undefined for keys of fewer bits. */
function wholeWords(keys: KeyWords): Uint32Array | undefined {
  if (keys.BYTES_PER_ELEMENT < 4) return undefined;
  return new Uint32Array(keys.buffer, keys.byteOffset, keys.byteLength / 4);
}

/** Encodes or decodes integers: in both directions their codec flips the same bits of each key. */
function flipWords(
  { from, step }: { from: Uint32Array; step: number },
  { to, step: stride }: { to: Uint32Array; step: number },
  { dtype, positiveFlip, descending }: KeyCodec,
): void {
  const [low, high] = halves(BigInt.asUintN(dtype.width, descending ? ~positiveFlip : positiveFlip));
  if (codeWordsOf(dtype) === 1) {
    for (let i = 0, at = 0; i < from.length; i += step, at += stride) to[at] = (from[i] as number) ^ low;
    return;
  }
  for (let i = 0, at = 0; i < from.length; i += step, at += stride) {
    to[at] = (from[i] as number) ^ low;
    to[at + 1] = (from[i + 1] as number) ^ high;
  }
}

/** A codec of at most 32 bits, in numbers. */
export interface Codec32 {
  readonly signShift: number;
  readonly mask: number;
  readonly positiveFlip: number;
  /** Bits that negative keys flip in addition. */
  readonly signFlip: number;
  readonly rotate: number;
  readonly lastNumber: number;
  readonly nanShift: number;
  readonly descending: boolean;
}

const codec32 = (codec: KeyCodec): Codec32 => ({
  signShift: codec.dtype.width - 1,
  mask: 2 ** codec.dtype.width - 1,
  positiveFlip: Number(codec.positiveFlip),
  signFlip: Number(codec.positiveFlip ^ codec.negativeFlip),
  rotate: Number(codec.rotate),
  lastNumber: Number(codec.lastNumber),
  nanShift: Number(codec.nanShift),
  descending: codec.descending,
});

/** Returns the code of the key with these bits, as an unsigned number. */
const encode32 = (codec: Codec32, bits: number): number => {
  let code = bits ^ codec.positiveFlip ^ (-(bits >>> codec.signShift) & codec.signFlip);
  code = (code - codec.rotate) & codec.mask;
  if (codec.descending && code >>> 0 <= codec.lastNumber) code = codec.lastNumber - (code >>> 0);
  return ((code + codec.nanShift) & codec.mask) >>> 0;
};

/** Inverse of `encode32`. */
const decode32 = (codec: Codec32, code: number): number => {
  let bits = (code - codec.nanShift) & codec.mask;
  if (codec.descending && bits >>> 0 <= codec.lastNumber) bits = codec.lastNumber - (bits >>> 0);
  bits = ((bits + codec.rotate) & codec.mask) >>> 0;
  // The code of a positive key has the top bit set, except for unsigned keys, which flip nothing.
  return (bits ^ codec.positiveFlip ^ (((bits >>> codec.signShift) - 1) & codec.signFlip)) >>> 0;
};

/** A codec of 64 bits, in pairs of 32-bit numbers. */
interface Codec64 {
  readonly positiveFlip: readonly [low: number, high: number];
  readonly signFlip: readonly [low: number, high: number];
  readonly rotate: readonly [low: number, high: number];
  readonly lastNumber: readonly [low: number, high: number];
  readonly nanShift: readonly [low: number, high: number];
  readonly descending: boolean;
}

const halves = (word: bigint): [low: number, high: number] => [
  Number(word & 0xffff_ffffn),
  Number(word >> 32n),
];

const codec64 = (codec: KeyCodec): Codec64 => ({
  positiveFlip: halves(codec.positiveFlip),
  signFlip: halves(codec.positiveFlip ^ codec.negativeFlip),
  rotate: halves(codec.rotate),
  lastNumber: halves(codec.lastNumber),
  nanShift: halves(codec.nanShift),
  descending: codec.descending,
});

function encode64(keys: Uint32Array, records: Uint32Array, stride: number, codec: KeyCodec): void {
  const { positiveFlip, signFlip, rotate, lastNumber, nanShift, descending } = codec64(codec);
  const [flipLow, flipHigh] = positiveFlip;
  const [signLow, signHigh] = signFlip;
  const [rotateLow, rotateHigh] = rotate;
  const [lastLow, lastHigh] = lastNumber;
  const [shiftLow, shiftHigh] = nanShift;
  for (let i = 0, at = 0; i < keys.length; i += 2, at += stride) {
    let lo = keys[i] as number;
    let hi = keys[i + 1] as number;
    const sign = -(hi >>> 31);
    lo = (lo ^ flipLow ^ (sign & signLow)) >>> 0;
    hi = (hi ^ flipHigh ^ (sign & signHigh)) >>> 0;
    hi = (hi - rotateHigh - (lo < rotateLow ? 1 : 0)) >>> 0;
    lo = (lo - rotateLow) >>> 0;
    if (descending && (hi < lastHigh || (hi === lastHigh && lo <= lastLow))) {
      hi = (lastHigh - hi - (lastLow < lo ? 1 : 0)) >>> 0;
      lo = (lastLow - lo) >>> 0;
    }
    const sum = lo + shiftLow;
    records[at] = sum;
    records[at + 1] = hi + shiftHigh + (sum > 0xffff_ffff ? 1 : 0);
  }
}

function decode64(records: Uint32Array, stride: number, keys: Uint32Array, codec: KeyCodec): void {
  const { positiveFlip, signFlip, rotate, lastNumber, nanShift, descending } = codec64(codec);
  const [flipLow, flipHigh] = positiveFlip;
  const [signLow, signHigh] = signFlip;
  const [rotateLow, rotateHigh] = rotate;
  const [lastLow, lastHigh] = lastNumber;
  const [shiftLow, shiftHigh] = nanShift;
  for (let i = 0, at = 0; i < keys.length; i += 2, at += stride) {
    let lo = records[at] as number;
    let hi = records[at + 1] as number;
    hi = (hi - shiftHigh - (lo < shiftLow ? 1 : 0)) >>> 0;
    lo = (lo - shiftLow) >>> 0;
    if (descending && (hi < lastHigh || (hi === lastHigh && lo <= lastLow))) {
      hi = (lastHigh - hi - (lastLow < lo ? 1 : 0)) >>> 0;
      lo = (lastLow - lo) >>> 0;
    }
    const sum = lo + rotateLow;
    hi = (hi + rotateHigh + (sum > 0xffff_ffff ? 1 : 0)) >>> 0;
    const sign = (hi >>> 31) - 1;
    keys[i] = sum ^ flipLow ^ (sign & signLow);
    keys[i + 1] = hi ^ flipHigh ^ (sign & signHigh);
  }
}
