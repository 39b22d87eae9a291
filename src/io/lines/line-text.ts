/** Comparisons of text as GNU sort makes them under LC_ALL=C: by bytes, and by the numbers that bytes spell. */
import { createHash } from 'node:crypto';

/** A range of bytes: a line, or a key in one. */
export interface Text {
  readonly bytes: Buffer;
  readonly begin: number;
  readonly end: number;
}

export const textOf = ({ bytes, begin, end }: Text): string => bytes.toString('latin1', begin, end);

export const compareBytes = (a: Text, b: Text): number =>
  a.bytes.compare(b.bytes, b.begin, b.end, a.begin, a.end);

const ZERO = 0x30;
const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= ZERO && byte <= ZERO + 9;
export const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09;

const POWERS = Array.from({ length: 23 }, (_, i) => 10 ** i);

/**
 * Parses the number that a text starts with. Up to 15 digits are exact without a conversion from a string.
 *
 * @param general whether exponents, infinities and NaN count, as for `sort -g`
 * @param whole whether the text must hold nothing else but blanks
 * @returns undefined when there is no number
 */
export function numberAt({ bytes, begin, end }: Text, general: boolean, whole = false): number | undefined {
  let at = begin;
  while (at < end && isBlank(bytes[at])) at++;
  const first = at;
  const isNegative = bytes[at] === 0x2d;
  if (isNegative || (general && bytes[at] === 0x2b)) at++;
  let mantissa = 0;
  let digits = 0;
  let decimals = 0;
  let isFraction = false;
  for (; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte === 0x2e && !isFraction) {
      isFraction = true;
    } else if (isDigit(byte)) {
      mantissa = mantissa * 10 + (byte - ZERO);
      digits++;
      if (isFraction) decimals++;
    } else break;
  }
  let last = at;
  if (last < end && whole) while (last < end && (isBlank(bytes[last]) || bytes[last] === 0x0d)) last++;
  if (digits > 0 && digits <= 15 && decimals <= 22 && (at === end || (whole && last === end))) {
    const value = mantissa / (POWERS[decimals] as number);
    return isNegative && value !== 0 ? -value : value;
  }
  return slowNumber(bytes.toString('latin1', first, end), general, whole);
}

const FIXED = /^-?(?:\d+\.?\d*|\.\d+)/;
const GENERAL = /^[+-]?(?:0x[\da-f]+|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan)/i;

function slowNumber(text: string, general: boolean, whole: boolean): number | undefined {
  const [found] = (general ? GENERAL : FIXED).exec(text) ?? [];
  if (found === undefined || (whole && text.slice(found.length).trim() !== '')) return undefined;
  const [, sign = '', rest = ''] = /^([+-]?)(.*)$/.exec(found.toLowerCase()) ?? [];
  if (rest === 'nan') return Number.NaN; // one pattern of bits for all of them
  const value = rest.startsWith('inf') ? Number.POSITIVE_INFINITY : Number(rest);
  return (sign === '-' ? -value : value) + 0; // no negative zero
}

/** Compares numbers of any length without rounding, as `sort -n` does. A text without a number is 0. */
export function compareNumeric(a: Text, b: Text): number {
  const [x, y] = [partsOf(a), partsOf(b)];
  if (x.sign !== y.sign) return x.sign - y.sign;
  const magnitude =
    x.whole.length - y.whole.length || order(x.whole, y.whole) || order(x.fraction, y.fraction);
  return x.sign * magnitude;
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function partsOf(text: Text) {
  const [, minus, digits = '', decimals = ''] = /^[ \t]*(-?)(\d*)\.?(\d*)/.exec(textOf(text)) ?? [];
  const whole = digits.replace(/^0+/, '');
  const fraction = decimals.replace(/0+$/, '');
  return { whole, fraction, sign: whole === '' && fraction === '' ? 0 : minus ? -1 : 1 };
}

/** Compares as `sort -g` does: no number, NaN, then numbers. */
export function compareGeneral(a: Text, b: Text): number {
  const [x, y] = [numberAt(a, true), numberAt(b, true)];
  const rank = (value: number | undefined) => (value === undefined ? 0 : Number.isNaN(value) ? 1 : 2);
  if (rank(x) < 2 || rank(y) < 2) return rank(x) - rank(y);
  return (x as number) < (y as number) ? -1 : x === y ? 0 : 1;
}

/** Order of a byte in versions: `~`, the end, digits, letters, the rest. */
function versionRank(byte: string | undefined): number {
  if (byte === undefined) return -1;
  if (byte === '~') return -2;
  const code = byte.charCodeAt(0);
  return isDigit(code) ? 0 : /[a-z]/i.test(byte) ? code : code + 256;
}

/** Compares alternating parts without and with digits, as Debian's versions are compared. */
function compareParts(a: string, b: string): number {
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    while ((i < a.length && !isDigit(a.charCodeAt(i))) || (j < b.length && !isDigit(b.charCodeAt(j)))) {
      const difference = versionRank(a[i]) - versionRank(b[j]);
      if (difference !== 0) return difference;
      i++;
      j++;
    }
    const [[x = ''] = [], [y = ''] = []] = [/^\d*/.exec(a.slice(i)) ?? [], /^\d*/.exec(b.slice(j)) ?? []];
    const [p, q] = [x.replace(/^0+/, ''), y.replace(/^0+/, '')];
    const difference = p.length - q.length || order(p, q);
    if (difference !== 0) return difference;
    i += x.length;
    j += y.length;
  }
  return 0;
}

const SUFFIX = /(?:\.[A-Za-z~][A-Za-z0-9~]*)*$/;

/** Compares natural order, as `sort -V` does: file2 before file10. A suffix such as .tar.gz counts last. */
export function compareVersions(a: Text, b: Text): number {
  const [x, y] = [textOf(a), textOf(b)];
  if (x === y) return 0;
  if (x === '' || y === '') return x === '' ? -1 : 1;
  const isHidden = (text: string) => text.startsWith('.');
  for (const special of ['.', '..']) if (x === special || y === special) return x === special ? -1 : 1;
  if (isHidden(x) !== isHidden(y)) return isHidden(x) ? -1 : 1;
  const [p, q] = [x.replace(SUFFIX, ''), y.replace(SUFFIX, '')];
  return (p === q ? 0 : compareParts(p, q)) || compareParts(x, y) || order(x, y);
}

/** Returns 48 bits of a hash. */
export const hashOf = ({ bytes, begin, end }: Text, salt: string): number =>
  createHash('md5').update(salt).update(bytes.subarray(begin, end)).digest().readUIntBE(0, 6);
