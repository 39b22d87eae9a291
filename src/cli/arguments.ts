/** Parsers for the text of arguments that several commands share. */
import { DTYPES, type Dtype, dtypeInfo } from '../keys/dtype.js';
import { namedDtype } from '../keys/dtype-name.js';
import { invalidArgument } from '../util/invalid-argument.js';
import type { Ratio } from '../util/ratio.js';
import type { OrderArguments, WholeOrderArguments } from './options/order.js';

/**
 * Reads the key order options. The bit window is validated against the key width later, when the dtype is known.
 *
 * @throws UsageError when `--bits` is not `A:B` with A ≤ B
 * @throws DtypeError when the dtype is unknown
 */
export function readOrder({
  dtype,
  descending,
  nan,
  bits,
}: Partial<Pick<OrderArguments, 'bits'>> & WholeOrderArguments) {
  if (dtype !== undefined) namedDtype(dtype);
  const window = readBits(bits);
  return {
    dtype,
    descending,
    nan: nan === 'first' ? ('first' as const) : ('last' as const),
    ...(window && { bits: window }),
  };
}

function readBits(text: string | undefined): readonly [number, number] | undefined {
  if (text === undefined) return undefined;
  const match = /^(\d+):(\d+)$/.exec(text);
  const window = [Number(match?.[1]), Number(match?.[2])] as const;
  if (!match || window[0] > window[1]) {
    throw invalidArgument('--bits', 'A:B with A <= B (such as 0:16)', text);
  }
  return window;
}

const SUFFIXES: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  m: 1e6,
  g: 1e9,
  ki: 2 ** 10,
  mi: 2 ** 20,
  gi: 2 ** 30,
};

/**
 * Parses a number of keys, such as 1000, 1_000_000, 1e6, 16Mi or 2^24.
 *
 * @throws UsageError when the text is no whole number
 */
export function readCount(text: string, option = '--count'): number {
  const plain = text.replaceAll(/[_,]/g, '');
  const power = /^2\^(\d{1,2})$/.exec(plain);
  const scaled = /^(\d+(?:\.\d+)?(?:e\d+)?)(ki|mi|gi|k|m|g|)$/i.exec(plain);
  const count = power
    ? 2 ** Number(power[1])
    : Number(scaled?.[1]) * (SUFFIXES[scaled?.[2]?.toLowerCase() ?? ''] ?? Number.NaN);
  if (!Number.isSafeInteger(count)) {
    throw invalidArgument(option, 'a whole number such as 1000, 1e6, 16Mi or 2^24', text);
  }
  return count;
}

/** Names given to a repeatable option; undefined when the option is absent. */
export type Names = readonly string[] | undefined;

/**
 * Returns the named key types; all types when no name is given.
 *
 * @throws DtypeError when a name is unknown
 */
export const readDtypes = (names: Names): Dtype[] => (names ?? DTYPES).map((name) => dtypeInfo(name).name);

/**
 * Checks a limit in seconds.
 *
 * @throws UsageError unless it is greater than 0
 */
export function readSeconds(option: string, seconds: number): number {
  if (seconds > 0) return seconds;
  throw invalidArgument(option, 'a number of seconds above 0', seconds);
}

/** Splits comma-separated words and trims them. */
export const listed = (text: string): string[] => text.split(',').map((word) => word.trim());

/**
 * Parses a sort shape: a key type, with `+4` or `+8` for the size of a value in bytes.
 *
 * @throws UsageError when the value size is not 4 or 8 bytes
 * @throws DtypeError when the key type is unknown
 */
export function readShape(text: string): { readonly dtype: Dtype; readonly valueBytes: 0 | 4 | 8 } {
  const [dtype = '', plus = '0', ...more] = text.split('+');
  const valueBytes = ([0, 4, 8] as const).find((bytes) => String(bytes) === plus);
  if (valueBytes === undefined || more.length > 0) {
    throw invalidArgument('--shape', 'a dtype, or one with +4 or +8 (such as u64+4)', text);
  }
  return { dtype: dtypeInfo(dtype).name, valueBytes };
}

/**
 * Parses comma-separated key counts. `2^10..2^24` expands to all powers of two in the range, `2^10..2^24:4` to every
 * fourth.
 *
 * @throws UsageError when a count or a range is malformed
 */
export function readCounts(text: string): number[] {
  return text.split(',').flatMap((part): number[] => {
    const range = /^2\^(\d+)\.\.2\^(\d+)(?::(\d+))?$/.exec(part.trim());
    if (!range) return [readCount(part.trim())];
    const [first, last, step] = [Number(range[1]), Number(range[2]), Number(range[3] ?? 1)];
    if (first > last || last > 52 || step < 1) {
      throw invalidArgument('--count', '2^A..2^B or 2^A..2^B:STEP with A <= B <= 52', part);
    }
    return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, i) => 2 ** (first + i * step));
  });
}

/**
 * Parses a 64-bit seed, decimal or hexadecimal (`0x…`).
 *
 * @throws UsageError when it is no whole number from 0 to 2^64 - 1
 */
export function readSeed(text: string): bigint {
  if (!/^(\d+|0x[0-9a-f]+)$/i.test(text) || BigInt(text) >= 2n ** 64n) {
    throw invalidArgument('--seed', 'a whole number from 0 to 2^64 - 1', text);
  }
  return BigInt(text);
}

/**
 * Parses a decimal number from 0 to 1, exactly.
 *
 * @throws UsageError when it is none
 */
export function readFraction(text: string, option: string): Ratio {
  const [, whole = '', digits = ''] = /^(\d*)(?:\.(\d*))?$/.exec(text) ?? [];
  const denominator = 10n ** BigInt(digits.length);
  const numerator = BigInt(`${whole}${digits}`);
  if (whole + digits === '' || numerator > denominator) {
    throw invalidArgument(option, 'decimal numbers from 0 to 1, such as 0.5,0.99', text);
  }
  return { numerator, denominator };
}
