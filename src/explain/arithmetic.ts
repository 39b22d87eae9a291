/** Arithmetic of reductions and scans, with the same rounding as on the device. */
import { type DtypeInfo, dtypeInfo } from '../keys/dtype.js';
import { decode, encode, type KeyCodec } from '../keys/key-codec.js';
import { keyValue } from '../keys/value.js';
import type { ReduceOp } from '../primitives/possible.js';
import { fromBytes, keyText } from './keys.js';

/** A bigint for integers and key codes, a number for floats. */
export type Sum = bigint | number;

/** How values of one dtype are combined and formatted. */
export interface Arithmetic {
  /** Size of a value in memory, in bytes. */
  readonly bytes: 4 | 8;
  readonly identity: Sum;
  /** Whether long sums carry their rounding error along (Kahan). */
  readonly rounds: boolean;
  of(pattern: bigint): Sum;
  combine(a: Sum, b: Sum): Sum;
  minus(a: Sum, b: Sum): Sum;
  text(sum: Sum): string;
  read(bytes: Uint8Array): Sum[];
}

/**
 * Returns integer arithmetic.
 *
 * @param bits width of an integer; results wrap around
 */
function integerArithmetic(bits: 32 | 64, { kind, width }: DtypeInfo): Arithmetic {
  const wrapped = (value: bigint): bigint => BigInt.asUintN(bits, value);
  return {
    bytes: bits === 32 ? 4 : 8,
    identity: 0n,
    rounds: false,
    of: (pattern) => wrapped(kind === 'signed' ? BigInt.asIntN(width, pattern) : pattern),
    combine: (a, b) => wrapped((a as bigint) + (b as bigint)),
    minus: (a, b) => wrapped((a as bigint) - (b as bigint)),
    text: (sum) => String(kind === 'signed' ? BigInt.asIntN(bits, sum as bigint) : sum),
    read: (bytes) => fromBytes(bytes, bits / 8),
  };
}

function floatArithmetic(info: DtypeInfo): Arithmetic {
  const round = info.width === 32 ? Math.fround : (value: number) => value;
  return {
    bytes: info.width === 32 ? 4 : 8,
    identity: 0,
    rounds: true,
    of: (pattern) => Number(keyValue(pattern, info)),
    combine: (a, b) => round((a as number) + (b as number)),
    minus: (a, b) => round((a as number) - (b as number)),
    text: (sum) => (Object.is(sum, -0) ? '-0' : String(sum)),
    read: (bytes) => [...new (info.width === 32 ? Float32Array : Float64Array)(bytes.slice().buffer)],
  };
}

/** Returns the arithmetic of scans, whose values have the width of the keys. */
export const scanArithmetic = (info: DtypeInfo): Arithmetic =>
  info.kind === 'float' ? floatArithmetic(info) : integerArithmetic(info.width as 32 | 64, info);

/** Returns the arithmetic of reductions: integer sums have 64 bits, minima and maxima compare key codes. */
export function reduceArithmetic(codec: KeyCodec, op: ReduceOp): Arithmetic {
  const info = dtypeInfo(codec.dtype.name);
  if (op === 'sum') return info.kind === 'float' ? floatArithmetic(info) : integerArithmetic(64, info);
  const bits = info.width === 64 ? 64 : 32;
  return {
    bytes: bits === 64 ? 8 : 4,
    identity: op === 'min' ? (1n << BigInt(info.width)) - 1n : 0n,
    rounds: false,
    of: (pattern) => encode(codec, pattern),
    combine: (a, b) => (op === 'min' ? (a < b ? a : b) : a > b ? a : b),
    minus: (a) => a,
    text: (code) => keyText(decode(codec, code as bigint), info.name),
    read: (bytes) => fromBytes(bytes, bits / 8),
  };
}
