/** Rounds decimal text to single precision in one step. */
import { doubleOf, exactCode, type ScannedNumber, scanNumber } from './number-text.js';

const double = new Float64Array(1);
const bits = new BigUint64Array(double.buffer);

/** Mantissa bits that a single lacks, and half of their range. */
const REST = (1n << 29n) - 1n;
const HALF = 1n << 28n;
/** Smallest normal single; below it singles have fewer mantissa bits. */
const SMALLEST_NORMAL = 2 ** -126;

/**
 * Returns the single that is nearest to a number. If the nearest double lies halfway between two singles, the exact
 * number decides, which avoids double rounding.
 */
export function nearestFloat32(number: ScannedNumber, bytes: Uint8Array): number {
  const value = doubleOf(number, bytes);
  double[0] = value;
  const isMiddle =
    ((bits[0] as bigint) & REST) === HALF || (Math.abs(value) < SMALLEST_NORMAL && value !== 0);
  if (!isMiddle || !Number.isFinite(value)) return Math.fround(value);
  const own = exactCode(number, bytes, 'last');
  const text = Buffer.from(exactText(value));
  const middle = exactCode(scanNumber(text, 0, text.length) as ScannedNumber, text, 'last');
  const order = Buffer.compare(own, middle);
  if (order === 0) return Math.fround(value);
  // The adjacent double on the side of the number is not halfway between two singles.
  const isAway = order > 0 === value > 0;
  double[0] = value;
  bits[0] = (bits[0] as bigint) + (isAway ? 1n : -1n);
  return Math.fround(double[0] as number);
}

/** Returns all digits of a double. */
function exactText(value: number): string {
  double[0] = value;
  const word = bits[0] as bigint;
  const power = Number((word >> 52n) & 0x7ffn);
  const fraction = word & ((1n << 52n) - 1n);
  const [mantissa, exponent] = power === 0 ? [fraction, -1074] : [fraction | (1n << 52n), power - 1075];
  const digits = exponent < 0 ? mantissa * 5n ** BigInt(-exponent) : mantissa << BigInt(exponent);
  return `${value < 0 ? '-' : ''}${digits}e${Math.min(0, exponent)}`;
}
