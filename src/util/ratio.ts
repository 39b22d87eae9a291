/** Exact fractions of integers, and their rounding. */

/** The fraction `numerator / denominator`; the denominator is positive. */
export interface Ratio {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** Every finite double is an integer times 2^-1074. */
export const DOUBLE_SCALE = 1074;
/** The number of bits after the first one in the significand of a double. */
const FRACTION_BITS = 52;

/** Returns the integer that is nearest to a fraction; of two, the even one. */
export function nearestInteger({ numerator, denominator }: Ratio): bigint {
  if (numerator < 0n) return -nearestInteger({ numerator: -numerator, denominator });
  const quotient = numerator / denominator;
  const twiceRest = 2n * (numerator % denominator);
  const isUp = twiceRest > denominator || (twiceRest === denominator && quotient % 2n === 1n);
  return isUp ? quotient + 1n : quotient;
}

const shifted = (number: bigint, bits: number): bigint => number << BigInt(Math.max(0, bits));

/** Returns the double that is nearest to a fraction; of two, the even one. Beyond the largest double that is ±Infinity. */
export function nearestDouble({ numerator, denominator }: Ratio): number {
  if (numerator < 0n) return -nearestDouble({ numerator: -numerator, denominator });
  if (numerator === 0n) return 0;
  const estimate = numerator.toString(2).length - denominator.toString(2).length;
  const isBelow = shifted(numerator, -estimate) < shifted(denominator, estimate);
  const exponent = isBelow ? estimate - 1 : estimate; // 2 ** exponent <= fraction < 2 ** (exponent + 1)
  const shift = Math.min(FRACTION_BITS - exponent, DOUBLE_SCALE);
  // The only rounding: the integer has 53 bits at most, and the product is a double.
  const significand = nearestInteger({
    numerator: shifted(numerator, shift),
    denominator: shifted(denominator, -shift),
  });
  return Number(significand) * 2 ** -shift;
}

/** Returns `number * 2 ** 1074` of a finite double, which is an integer. */
export function scaledDouble(number: number): bigint {
  const view = new DataView(new ArrayBuffer(Float64Array.BYTES_PER_ELEMENT));
  view.setFloat64(0, Math.abs(number));
  const bits = view.getBigUint64(0);
  const [exponent, fraction] = [bits >> BigInt(FRACTION_BITS), BigInt.asUintN(FRACTION_BITS, bits)];
  const magnitude =
    exponent === 0n ? fraction : (fraction | (1n << BigInt(FRACTION_BITS))) << (exponent - 1n);
  return number < 0 ? -magnitude : magnitude;
}
