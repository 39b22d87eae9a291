/** Exact parsing and comparison of decimal text, without rounding. */

const [ZERO, NINE, MINUS, PLUS, POINT, BLANK, TAB] = [0x30, 0x39, 0x2d, 0x2b, 0x2e, 0x20, 0x09];

/** A scanned number. The scanner reuses a single instance, so copy what you need before the next scan. */
export interface ScannedNumber {
  isNegative: boolean;
  /** NaN or infinity. */
  special: 'nan' | 'infinity' | undefined;
  /** Whether it has neither a decimal point nor an exponent. */
  isWhole: boolean;
  /** Whether it has no blanks, no plus sign and no leading zeros. */
  isPlain: boolean;
  /** Whether it is a valid JSON number. */
  isJson: boolean;
  /**
   * The significant digits, from the first to the last nonzero one: their number, their value if there are at most
   * 15, and their byte range.
   */
  digits: number;
  head: number;
  begin: number;
  end: number;
  /** The value is 0.DIGITS × 10^exponent. */
  exponent: number;
}

const scanned: ScannedNumber = {
  isNegative: false,
  special: undefined,
  isWhole: true,
  isPlain: true,
  isJson: true,
  digits: 0,
  head: 0,
  begin: 0,
  end: 0,
  exponent: 0,
};

/** Number of decimal digits that a double always preserves. */
export const SAFE_DIGITS = 15;
/** Maximum exponent. */
const MAX_EXPONENT = 2 ** 30;

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= ZERO && byte <= NINE;

/** Scans the number in a byte range; returns undefined if it is not a number. Surrounding blanks are ignored. */
export function scanNumber(bytes: Uint8Array, from: number, to: number): ScannedNumber | undefined {
  const n = scanned;
  let at = from;
  let end = to;
  while (at < end && (bytes[at] === BLANK || bytes[at] === TAB)) at++;
  while (end > at && (bytes[end - 1] === BLANK || bytes[end - 1] === TAB)) end--;
  n.isPlain = at === from && end === to;
  n.special = undefined;
  n.isWhole = true;
  n.isNegative = bytes[at] === MINUS;
  if (n.isNegative || bytes[at] === PLUS) {
    n.isPlain &&= n.isNegative;
    at++;
  }
  if (at >= end) return undefined;
  const first = bytes[at] as number;
  if (!isDigit(first) && first !== POINT) return special(bytes, at, end);
  n.digits = 0;
  n.head = 0;
  n.exponent = 0;
  let last = -1;
  let taken = 0;
  let isBehind = false;
  let hasDigit = false;
  const start = at;
  for (; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte === POINT && !isBehind) {
      isBehind = true;
      n.isWhole = false;
      continue;
    }
    if (byte < ZERO || byte > NINE) break;
    hasDigit = true;
    if (byte === ZERO && n.digits === 0 && taken === 0) {
      if (isBehind) n.exponent--; // a leading zero of the fraction
      continue;
    }
    if (taken === 0) n.begin = at;
    taken++;
    if (!isBehind) n.exponent++;
    if (byte !== ZERO) {
      n.digits = taken;
      last = at;
    }
  }
  if (!hasDigit) return undefined;
  const isSplit = isBehind && !(isDigit(bytes[start]) && isDigit(bytes[at - 1]));
  if (bytes[start] === ZERO && isDigit(bytes[start + 1])) n.isPlain = false;
  if (at < end) {
    const power = exponentOf(bytes, at, end);
    if (power === undefined) return undefined;
    n.isWhole = false;
    n.exponent += power;
  }
  n.isJson = n.isPlain && !isSplit;
  n.end = last + 1;
  if (n.digits === 0) n.exponent = 0;
  else if (n.digits <= SAFE_DIGITS) {
    let head = 0;
    for (let k = n.begin; k < n.end; k++) {
      if (bytes[k] !== POINT) head = head * 10 + (bytes[k] as number) - ZERO;
    }
    n.head = head;
  }
  return n;
}

/** Returns the exponent that starts at an `e`; undefined if it is invalid. */
function exponentOf(bytes: Uint8Array, at: number, end: number): number | undefined {
  if (((bytes[at++] as number) | 0x20) !== 0x65) return undefined;
  const isNegative = bytes[at] === MINUS;
  if (isNegative || bytes[at] === PLUS) at++;
  if (at >= end) return undefined;
  let power = 0;
  for (; at < end; at++) {
    if (!isDigit(bytes[at])) return undefined;
    power = power * 10 + (bytes[at] as number) - ZERO;
    if (power > MAX_EXPONENT) return undefined;
  }
  return isNegative ? -power : power;
}

const SPECIALS: Readonly<Record<string, 'nan' | 'infinity'>> = {
  nan: 'nan',
  inf: 'infinity',
  infinity: 'infinity',
};

function special(bytes: Uint8Array, at: number, end: number): ScannedNumber | undefined {
  if (end - at > 'infinity'.length || end - at < 3) return undefined;
  const word = String.fromCharCode(...bytes.subarray(at, end)).toLowerCase();
  if (!Object.hasOwn(SPECIALS, word)) return undefined;
  scanned.special = SPECIALS[word];
  scanned.isWhole = false;
  scanned.isJson = false;
  scanned.digits = 0;
  scanned.exponent = 0;
  return scanned;
}

const POWERS = Array.from({ length: 23 }, (_, i) => Number(`1e${i}`));

/** Returns the double that is nearest to a number scanned from `bytes`. */
export function doubleOf(n: ScannedNumber, bytes: Uint8Array): number {
  if (n.special === 'nan') return Number.NaN;
  const sign = n.isNegative ? -1 : 1;
  if (n.special) return sign * Number.POSITIVE_INFINITY;
  if (n.digits === 0) return sign * 0;
  const power = n.exponent - n.digits;
  // Both operands are exact, so the result is rounded only once.
  if (n.digits <= SAFE_DIGITS && power >= -22 && power <= 22) {
    return sign * (power < 0 ? n.head / (POWERS[-power] as number) : n.head * (POWERS[power] as number));
  }
  return sign * Number(`0.${digitsOf(n, bytes)}e${n.exponent}`);
}

/** Returns the significant digits of a scanned number, from the first to the last nonzero one. */
export const digitsOf = (n: ScannedNumber, bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + n.begin, n.end - n.begin)
    .toString('latin1')
    .replace('.', '');

export function integerOf(n: ScannedNumber, bytes: Uint8Array): bigint {
  if (n.digits === 0) return 0n;
  if (n.exponent <= SAFE_DIGITS) {
    const safe = n.head * (POWERS[n.exponent - n.digits] as number);
    return BigInt(n.isNegative ? -safe : safe);
  }
  const value = BigInt(digitsOf(n, bytes)) * 10n ** BigInt(n.exponent - n.digits);
  return n.isNegative ? -value : value;
}

/** First bytes of the codes, in ascending order. */
const CODE = { lowest: 1, negative: 2, minusZero: 3, zero: 4, positive: 5, highest: 6, nanLast: 7 } as const;
const NAN_FIRST = 0;
const EXPONENT_BIAS = 2 ** 31;

/**
 * Returns bytes in the exact order of the numbers. −0 comes directly before 0, NaNs at one end.
 *
 * @param nan  position of NaNs
 */
export function exactCode(n: ScannedNumber, bytes: Uint8Array, nan: 'first' | 'last'): Uint8Array {
  if (n.special === 'nan') return Uint8Array.of(nan === 'last' ? CODE.nanLast : NAN_FIRST);
  if (n.special) return Uint8Array.of(n.isNegative ? CODE.lowest : CODE.highest);
  if (n.digits === 0) return Uint8Array.of(n.isNegative ? CODE.minusZero : CODE.zero);
  const pairs = (n.digits + 1) >> 1;
  const code = new Uint8Array(5 + pairs + (n.isNegative ? 1 : 0));
  code[0] = n.isNegative ? CODE.negative : CODE.positive;
  const biased = n.exponent + EXPONENT_BIAS;
  for (let k = 0; k < 4; k++) code[1 + k] = Math.floor(biased / 2 ** (8 * (3 - k)));
  let place = 0;
  for (let at = n.begin; at < n.end; at++) {
    if (bytes[at] === POINT) continue;
    const digit = (bytes[at] as number) - ZERO;
    const pair = 5 + (place >> 1);
    // A pair of digits is never encoded as 0, so a prefix sorts before longer numbers.
    code[pair] = (code[pair] as number) + (place & 1 ? digit : 10 * digit + 1);
    place++;
  }
  if (n.isNegative) {
    for (let k = 1; k < 5 + pairs; k++) code[k] = 0xff - (code[k] as number);
    code[5 + pairs] = 0xff;
  }
  return code;
}
