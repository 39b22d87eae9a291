import { type KeyWords, keyWords } from '../keys/array.js';
import { codeWordsOf, encodeRecords } from '../keys/codec-records.js';
import { type Dtype, type DtypeInfo, dtypeInfo } from '../keys/dtype.js';
import { type KeyCodec, keyCodec, type Order } from '../keys/key-codec.js';
import { hostSort } from '../sort/host-sort.js';
import { firstDescent } from '../sort/host-verify.js';
import type { Source } from './raw.js';

/** How the keys of a file are to stand. */
export interface FileOrder extends Order {
  readonly dtype: Dtype;
  readonly bits: readonly [begin: number, end: number];
}

/** The first key that is smaller, in the wanted order, than the one before it. */
export interface Descent {
  /** Position of the key, from 0. */
  readonly at: number;
  readonly before: number | bigint;
  readonly key: number | bigint;
}

export interface OrderResult {
  readonly n: number;
  readonly descent: Descent | undefined;
}

/** Looks through a file for the first key out of order, in memory for one piece. */
export async function checkOrder(source: Source, order: FileOrder): Promise<OrderResult> {
  const codec = keyCodec(order.dtype, order);
  const info = codec.dtype;
  let n = 0;
  let descent: Descent | undefined;
  let last: Uint8Array | undefined; // the key before the piece
  for await (const piece of source.pieces(info.bytes)) {
    if (!descent) {
      const bytes = last ? joined(last, piece) : piece;
      const words = keyWords(bytes, info);
      const at = firstDescent(words, codec, order.bits);
      if (at !== -1) {
        const [before, key] = shown(words.slice(at - 1, at + 1), info);
        descent = { at: n - (last ? 1 : 0) + at, before: before ?? 0, key: key ?? 0 };
      }
      last = piece.slice(piece.length - info.bytes);
    }
    n += piece.length / info.bytes;
  }
  return { n, descent };
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** Bit patterns as the numbers that they stand for. */
function shown(words: KeyWords, { kind, bytes, name }: DtypeInfo): (number | bigint)[] {
  const view = new DataView(words.buffer, words.byteOffset, words.byteLength);
  return Array.from({ length: words.length }, (_, i) => {
    const at = i * bytes;
    if (name === 'f16') return halfToNumber(view.getUint16(at, true));
    if (name === 'f32') return view.getFloat32(at, true);
    if (name === 'f64') return view.getFloat64(at, true);
    const signed = kind === 'signed';
    if (bytes === 8) return signed ? view.getBigInt64(at, true) : view.getBigUint64(at, true);
    if (bytes === 4) return signed ? view.getInt32(at, true) : view.getUint32(at, true);
    if (bytes === 2) return signed ? view.getInt16(at, true) : view.getUint16(at, true);
    return signed ? view.getInt8(at) : view.getUint8(at);
  });
}

function halfToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

/** Bytes of one file that are compared in memory at a time. */
const SHARE_BYTES = 512 * 2 ** 20;

/**
 * Whether two files hold the same keys, each as often. Exact: keys are sorted and compared, not hashed.
 *
 * A file too large for that is gone through several times, each time for the keys of one share; equal
 * keys are always in the same share.
 *
 * @param shareBytes bytes of a share
 */
export async function isPermutation(
  a: Source,
  b: Source,
  dtype: Dtype,
  shareBytes: number = SHARE_BYTES,
): Promise<boolean> {
  if (a.bytes !== undefined && b.bytes !== undefined && a.bytes !== b.bytes) return false;
  const info = dtypeInfo(dtype);
  // A pipe can be read only once, so the whole of it is one share.
  const shares = a.bytes === undefined || b.bytes === undefined ? 1 : Math.ceil(a.bytes / shareBytes);
  for (let share = 0; share < shares; share++) {
    const [x, y] = [await sortedShare(a, info, share, shares), await sortedShare(b, info, share, shares)];
    if (Buffer.compare(x, y) !== 0) return false;
  }
  return true;
}

async function sortedShare(
  source: Source,
  info: DtypeInfo,
  share: number,
  shares: number,
): Promise<Uint8Array> {
  const bytes = shares === 1 ? await source.read(info.bytes) : await gathered(source, info, share, shares);
  const view = keyWords(bytes, info);
  const n = view.length;
  hostSort({ dtype: info.name, info, n, view }, {}, { sorted: bytes });
  return bytes;
}

async function gathered(source: Source, info: DtypeInfo, share: number, shares: number): Promise<Uint8Array> {
  const codec = keyCodec(info.name);
  const kept: KeyWords[] = [];
  for await (const piece of source.pieces(info.bytes))
    kept.push(ofShare(keyWords(piece, info), codec, share, shares));
  const all = new Uint8Array(kept.reduce((sum, words) => sum + words.byteLength, 0));
  let at = 0;
  for (const { buffer, byteOffset, byteLength } of kept) {
    all.set(new Uint8Array(buffer, byteOffset, byteLength), at);
    at += byteLength;
  }
  return all;
}

/** The keys of one share: those whose code, stirred, falls to it. */
function ofShare(words: KeyWords, codec: KeyCodec, share: number, shares: number): KeyWords {
  const stride = codeWordsOf(codec.dtype);
  const codes = new Uint32Array(words.length * stride);
  encodeRecords(words, codes, stride, codec);
  return (words as Uint32Array).filter((_, i) => {
    const low = codes[i * stride] as number;
    const high = codes[(i + 1) * stride - 1] as number; // the same word again where there is only one
    return (Math.imul(low ^ (high >>> 7), 0x9e3779b1) >>> 0) % shares === share;
  });
}
