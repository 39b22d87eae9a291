import { invalidArgument } from '../../util/invalid-argument.js';

const POWERS: Readonly<Record<string, number>> = {
  '': 1,
  K: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
};

const NUMBER = String.raw`(\d+(?:\.\d+)?(?:e\d+)?)\s*([KkMGTP]i?|)`;
const SIZE = new RegExp(`^${NUMBER}B?$`);
const BYTE_RATE = new RegExp(`^${NUMBER}B?/s$`);
const BIT_RATE = new RegExp(`^${NUMBER}(?:b(?:it)?/s|bps|bit)$`);
const BARE = new RegExp(`^${NUMBER}$`);

function scaled(match: RegExpExecArray | null): number | undefined {
  if (!match) return undefined;
  const [, number = '', prefix = ''] = match;
  const value = Number(number) * (POWERS[prefix.replace('k', 'K')] ?? Number.NaN);
  return Number.isFinite(value) && value > 0 ? value : undefined;
}

/**
 * Parses a size in bytes: 100T and 100TB are 10^14, 64Gi and 64GiB are 2^36.
 *
 * @throws UsageError when the text is not a positive size
 */
export function readBytes(text: string, option: string): number {
  const bytes = scaled(SIZE.exec(text));
  if (bytes !== undefined && bytes <= Number.MAX_SAFE_INTEGER) return Math.floor(bytes);
  throw invalidArgument(option, 'a size such as 100T (10^14 bytes), 512M or 64GiB', text);
}

/**
 * Parses a rate in bytes per second, given in bytes or bits: 20G/s, 20GB/s, 160Gbit/s.
 *
 * @throws UsageError when the text is not a rate
 */
export function readByteRate(text: string, option: string): number {
  const bytes = scaled(BYTE_RATE.exec(text));
  const bits = scaled(BIT_RATE.exec(text));
  if (bytes !== undefined) return bytes;
  if (bits !== undefined) return bits / 8;
  throw invalidArgument(option, 'bytes per second such as 20G/s or 500MB/s (bits: 160Gbit/s)', text);
}

/**
 * Parses a network rate, which is in bits by default, into bytes per second: 400G and 400Gbit/s are 5 · 10^10.
 *
 * @throws UsageError when the text is not a rate; 400G/s is ambiguous
 */
export function readNetworkRate(text: string, option: string): number {
  const bits = scaled(BIT_RATE.exec(text)) ?? scaled(BARE.exec(text));
  if (bits !== undefined) return bits / 8;
  const bytes = /B\/s$/.test(text) ? scaled(BYTE_RATE.exec(text)) : undefined;
  if (bytes !== undefined) return bytes;
  throw invalidArgument(option, 'bits per second such as 400G or 400Gbit/s (bytes: 50GB/s)', text);
}
