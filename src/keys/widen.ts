/** Conversion of keys to another dtype that holds each of their values exactly. */

import { invalidArgument } from '../util/invalid-argument.js';
import { type ArrayOf, elementsOf, type KeyColumn, newArray } from './array.js';
import { DTYPES, type Dtype, type DtypeInfo, dtypeInfo, isHalf, type KeyArray } from './dtype.js';
import { halfDecoder } from './value.js';

/** Returns the bits of the integers that a dtype holds exactly, without their sign. */
export const integerBits = ({ kind, width, negativeNaNs }: DtypeInfo): number =>
  kind === 'float' ? negativeNaNs.toString(2).length + 1 : kind === 'signed' ? width - 1 : width;

/** Whether `to` holds every value of `from` exactly. */
export function widens(from: Dtype, to: Dtype): boolean {
  if (from === to) return true;
  const [narrow, wide] = [dtypeInfo(from), dtypeInfo(to)];
  if (isHalf(wide)) return false; // not supported as a result
  if (narrow.kind === 'float') return wide.kind === 'float' && wide.width > narrow.width;
  if (narrow.kind === 'signed' && wide.kind === 'unsigned') return false;
  return integerBits(wide) >= integerBits(narrow);
}

/**
 * Copies keys into an array of a wider dtype.
 *
 * @returns a new array, or the keys in the same memory if the dtype is the same
 * @throws UsageError when the dtype does not hold every key
 */
export function widen({ dtype, info, n, view }: Omit<KeyColumn, 'array'>, to: Dtype): KeyArray {
  if (!widens(dtype, to)) {
    const wider = DTYPES.filter((one) => widens(dtype, one)).join(' ');
    throw invalidArgument('the dtype of the result', `one of ${wider} (which hold every ${dtype} key)`, to);
  }
  const own = elementsOf(view, dtype);
  if (dtype === to) return own;
  const numbers = isHalf(info)
    ? Float32Array.from(view as Uint16Array, halfDecoder(info))
    : (own as Float64Array);
  const wide = newArray(to, n) as ArrayOf<'f64'>;
  if (to !== 'u64' && to !== 'i64') {
    wide.set(numbers);
    return wide;
  }
  // 32-bit words, since BigInts would take ten times as long.
  const words = new Uint32Array(wide.buffer);
  for (let i = 0; i < n; i++) {
    const number = numbers[i] as number;
    words[2 * i] = number;
    words[2 * i + 1] = number < 0 ? -1 : 0;
  }
  return wide;
}
