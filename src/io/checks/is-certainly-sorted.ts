/** Fast check for sorted keys that compares numbers instead of codes. */
import type { KeyWords } from '../../keys/array.js';
import { type DtypeInfo, infinityBits } from '../../keys/dtype.js';

/**
 * Whether keys are certainly sorted by all of their bits. Comparing numbers cannot order adjacent zeros or NaNs, so the
 * function returns false for these; the caller then compares codes.
 *
 * @param keys the keys
 * @param info their dtype
 * @param descending whether the expected order is descending
 */
export function isCertainlySorted(keys: KeyWords, info: DtypeInfo, descending: boolean): boolean {
  const { buffer, byteOffset, length } = keys;
  const [from, to] = [byteOffset, length];
  const signed = info.kind === 'signed';
  if (info.kind === 'float') {
    if (info.width === 64) return areFloatsSorted(new Float64Array(buffer, from, to), descending);
    if (info.width === 32) return areFloatsSorted(new Float32Array(buffer, from, to), descending);
    return areHalvesSorted(keys as Uint16Array, Number(infinityBits(info)), descending);
  }
  if (info.width === 64) {
    const low = new Uint32Array(buffer, from, 2 * to);
    return arePairsSorted(low, signed ? new Int32Array(buffer, from, 2 * to) : low, descending);
  }
  if (!signed) return areIntegersSorted(keys as Uint32Array, descending);
  if (info.width === 32) return areIntegersSorted(new Int32Array(buffer, from, to), descending);
  if (info.width === 16) return areIntegersSorted(new Int16Array(buffer, from, to), descending);
  return areIntegersSorted(new Int8Array(buffer, from, to), descending);
}

function areFloatsSorted(keys: Float32Array | Float64Array, descending: boolean): boolean {
  let last = keys[0] as number;
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i] as number;
    if (!((descending ? key < last : key > last) || (key === last && key !== 0))) return false;
    last = key;
  }
  return true;
}

type Integers = Uint8Array | Uint16Array | Uint32Array | Int8Array | Int16Array | Int32Array;

function areIntegersSorted(keys: Integers, descending: boolean): boolean {
  let last = keys[0] as number;
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i] as number;
    if (descending ? key > last : key < last) return false;
    last = key;
  }
  return true;
}

/** Compares 64-bit integers by their words, the low one first; `high` is signed for signed integers. */
function arePairsSorted(low: Uint32Array, high: Uint32Array | Int32Array, descending: boolean): boolean {
  let lastLow = low[0] as number;
  let lastHigh = high[1] as number;
  for (let i = 2; i < low.length; i += 2) {
    const keyLow = low[i] as number;
    const keyHigh = high[i + 1] as number;
    const falls = keyHigh === lastHigh ? keyLow < lastLow : keyHigh < lastHigh;
    const rises = keyHigh === lastHigh ? keyLow > lastLow : keyHigh > lastHigh;
    if (descending ? rises : falls) return false;
    lastLow = keyLow;
    lastHigh = keyHigh;
  }
  return true;
}

/** Compares floats of 16 bits by sign and magnitude. The magnitudes of NaNs are above that of infinity. */
function areHalvesSorted(bits: Uint16Array, infinity: number, descending: boolean): boolean {
  let last = Number.NaN;
  for (let i = 0; i < bits.length; i++) {
    const magnitude = (bits[i] as number) & 0x7fff;
    if (magnitude > infinity) return false;
    const key = (bits[i] as number) & 0x8000 ? -1 - magnitude : magnitude; // places −0 right below +0
    if (descending ? key > last : key < last) return false;
    last = key;
  }
  return true;
}
