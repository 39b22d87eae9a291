import { type KeyWords, keyWords } from '../keys/array.js';
import type { Dtype, DtypeInfo } from '../keys/dtype.js';
import { keyCodec, type Order } from '../keys/key-codec.js';
import { firstDescent } from '../sort/host/host-verify.js';
import type { Multiset } from './multiset.js';
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

/**
 * Looks through a file for the first key out of order, in memory for one piece.
 *
 * @param keys counts the keys in on the way, since a pipe can be read only once
 */
export async function checkOrder(source: Source, order: FileOrder, keys?: Multiset): Promise<OrderResult> {
  const codec = keyCodec(order.dtype, order);
  const info = codec.dtype;
  let n = 0;
  let descent: Descent | undefined;
  let last: Uint8Array | undefined; // the key before the piece
  for await (const piece of source.pieces(info.bytes)) {
    const added = keys?.add(piece);
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
    await added;
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

/** Counts the keys of a file in. */
export async function addKeys(source: Source, keys: Multiset, { bytes }: DtypeInfo): Promise<void> {
  let added: Promise<void> | undefined;
  for await (const piece of source.pieces(bytes)) {
    await added; // while the next piece was read
    added = keys.add(piece);
    added.catch(() => undefined); // it is awaited, perhaps after another failure
  }
  await added;
}
