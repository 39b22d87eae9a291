/** Converts keys between text and bit patterns. */
import { type Dtype, type DtypeInfo, dtypeInfo } from '../keys/dtype.js';
import { bf16Bits, keyValue } from '../keys/value.js';
import { DtypeError } from '../util/errors.js';
import { invalidArgument } from '../util/invalid-argument.js';

/** Returns u32 for unsigned integers, i32 when any word has a minus sign, and f32 when any word is not an integer. */
export function guessDtype(words: readonly string[]): Dtype {
  if (words.some((word) => !/^[+-]?\d+$/.test(word.trim()))) return 'f32';
  return words.some((word) => word.trim().startsWith('-')) ? 'i32' : 'u32';
}

type FloatArray = Float32ArrayConstructor | Float64ArrayConstructor;

function floatArray({ name, width }: DtypeInfo): FloatArray {
  if (width === 64) return Float64Array;
  if (width === 32) return Float32Array;
  const { Float16Array: half } = globalThis as { Float16Array?: unknown };
  if (half === undefined)
    throw new DtypeError(
      `cannot parse ${name} keys: this Node has no Float16Array. Use Node 24 or later, or f32`,
    );
  return half as FloatArray;
}

/** Returns the bits of the float that is nearest to a number. */
const floatBits = (number: number, info: DtypeInfo): bigint =>
  info.name === 'bf16'
    ? BigInt(bf16Bits(number))
    : (fromBytes(new Uint8Array(floatArray(info).of(number).buffer), info.bytes)[0] ?? 0n);

/**
 * Parses a key into its bit pattern.
 *
 * @throws UsageError when it is no number of the dtype
 */
export function parseKey(word: string, dtype: Dtype): bigint {
  const info = dtypeInfo(dtype);
  if (info.kind === 'float') {
    const number = /^[+-]?nan$/i.test(word)
      ? Number.NaN
      : Number(word.replace(/^([+-]?)inf(inity)?$/i, '$1Infinity'));
    if (Number.isNaN(number) && !/nan$/i.test(word))
      throw invalidArgument('keys', `a number (${dtype})`, word);
    return floatBits(number, info);
  }
  const low = info.kind === 'signed' ? -(2n ** BigInt(info.width - 1)) : 0n;
  const high = low + 2n ** BigInt(info.width) - 1n;
  const number = /^[+-]?\d+$/.test(word) ? BigInt(word.replace(/^\+/, '')) : undefined;
  if (number === undefined || number < low || number > high) {
    throw invalidArgument('keys', `a whole number from ${low} to ${high} (${dtype})`, word);
  }
  return BigInt.asUintN(info.width, number);
}

/** Formats a bit pattern as a number. */
export function keyText(pattern: bigint, dtype: Dtype): string {
  const info = dtypeInfo(dtype);
  if (info.kind === 'unsigned') return String(pattern);
  if (info.kind === 'signed') return String(BigInt.asIntN(info.width, pattern));
  const number = Number(keyValue(pattern, info));
  if (Object.is(number, -0)) return '-0';
  // The shortest decimal that rounds to this float: 0.1, not 0.10000000149011612.
  for (let digits = 1; info.width < 64 && digits < 10 && Number.isFinite(number); digits++) {
    const short = Number(number.toPrecision(digits));
    if (floatBits(short, info) === pattern) return String(short);
  }
  return String(number);
}

/** Reads little-endian elements of `elementBytes` bytes as unsigned numbers. */
export function fromBytes(bytes: Uint8Array, elementBytes: number): bigint[] {
  return Array.from({ length: bytes.length / elementBytes }, (_, i) =>
    bytes
      .subarray(i * elementBytes, (i + 1) * elementBytes)
      .reduceRight((word, byte) => (word << 8n) | BigInt(byte), 0n),
  );
}

/** Inverse of `fromBytes`. */
export function toBytes(words: readonly bigint[], elementBytes: number): Uint8Array {
  const bytes = new Uint8Array(words.length * elementBytes);
  words.forEach((word, i) => {
    for (let b = 0; b < elementBytes; b++)
      bytes[i * elementBytes + b] = Number((word >> BigInt(8 * b)) & 255n);
  });
  return bytes;
}
