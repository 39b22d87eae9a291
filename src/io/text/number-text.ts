/** Numbers as they are written, compared as what they mean: nothing is rounded. */

const [ZERO, NINE, MINUS, PLUS, POINT, BLANK, TAB] = [0x30, 0x39, 0x2d, 0x2b, 0x2e, 0x20, 0x09];

/** A number in a text. One is kept and filled again and again: take what you need of it at once. */
export interface ScannedNumber {
  isNegative: boolean;
  /** Not a number, or infinite. */
  special: 'nan' | 'infinity' | undefined;
  /** Whether it has neither a point nor an exponent. */
  isWhole: boolean;
  /** Whether it is written as numbers usually are: no blank, no plus, no zero in front. */
  isPlain: boolean;
  /** Whether it is a number in JSON. */
  isJson: boolean;
  /** Digits from the first to the last that is not zero: their number, the first 15 as a number, and where they begin and end. */
  digits: number;
  head: number;
  begin: number;
  end: number;
  /** It is 0.DIGITS times ten to this. */
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

/** Digits that a double holds, whichever they are. */
export const SAFE_DIGITS = 15;
/** Largest exponent. */
const MAX_EXPONENT = 2 ** 30;

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= ZERO && byte <= NINE;

/** The number that a range of bytes is; undefined where it is none. Blanks around it are no part of it. */
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
      if (isBehind) n.exponent--; // a zero in front of all other digits
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

/** What stands behind an e; undefined where that is no exponent. */
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

/** The double nearest to a number that was scanned in `bytes`. */
export function doubleOf(n: ScannedNumber, bytes: Uint8Array): number {
  if (n.special === 'nan') return Number.NaN;
  const sign = n.isNegative ? -1 : 1;
  if (n.special) return sign * Number.POSITIVE_INFINITY;
  if (n.digits === 0) return sign * 0;
  const power = n.exponent - n.digits;
  // Both are exact, so that the result is rounded once.
  if (n.digits <= SAFE_DIGITS && power >= -22 && power <= 22) {
    return sign * (power < 0 ? n.head / (POWERS[-power] as number) : n.head * (POWERS[power] as number));
  }
  return sign * Number(`0.${digitsOf(n, bytes)}e${n.exponent}`);
}

/** The digits of a number that was scanned, from the first to the last that is not zero. */
export const digitsOf = (n: ScannedNumber, bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + n.begin, n.end - n.begin)
    .toString('latin1')
    .replace('.', '');

/** A whole number that was scanned. */
export function integerOf(n: ScannedNumber, bytes: Uint8Array): bigint {
  if (n.digits === 0) return 0n;
  const value = BigInt(digitsOf(n, bytes)) * 10n ** BigInt(n.exponent - n.digits);
  return n.isNegative ? -value : value;
}

/** First bytes of codes, in their order. */
const CODE = { lowest: 1, negative: 2, minusZero: 3, zero: 4, positive: 5, highest: 6, nanLast: 7 } as const;
const NAN_FIRST = 0;
const EXPONENT_BIAS = 2 ** 31;

/**
 * Bytes whose order is that of numbers, exactly: −0 stands directly before 0, NaNs at one end.
 *
 * @param nan where NaNs go
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
    // A pair is never 0, so that a shorter number comes before one that goes on.
    code[pair] = (code[pair] as number) + (place & 1 ? digit : 10 * digit + 1);
    place++;
  }
  if (n.isNegative) {
    for (let k = 1; k < 5 + pairs; k++) code[k] = 0xff - (code[k] as number);
    code[5 + pairs] = 0xff;
  }
  return code;
}
