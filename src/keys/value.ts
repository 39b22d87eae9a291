/** Conversion between the bit patterns of keys and their numbers. */
import { type DtypeInfo, infinityBits } from './dtype.js';
import { encode, type KeyCodec, keyCodec } from './key-codec.js';

const scratch = new DataView(new ArrayBuffer(8));

/** Returns the function that decodes the bits of a float of 16 bits. */
export const halfDecoder = ({ name }: DtypeInfo): ((bits: number) => number) =>
  name === 'bf16' ? bf16Value : f16Value;

/** Returns the number of bfloat16 bits, the upper half of those of an f32. */
function bf16Value(bits: number): number {
  scratch.setUint32(0, bits << 16);
  return scratch.getFloat32(0);
}

/** Rounds a number to bfloat16 bits, to nearest even; beyond the largest number that gives infinity. */
export function bf16Bits(value: number): number {
  if (Number.isNaN(value)) return 0x7fc0;
  const single = Math.fround(value);
  scratch.setFloat32(0, single);
  let bits = scratch.getUint32(0);
  // The first rounding goes towards zero and marks what it lost in the last bit, so that the second one is exact.
  if (single !== value) bits = (Math.abs(single) > Math.abs(value) ? bits - 1 : bits) | 1;
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}

/** Returns the number of half-precision bits. */
function f16Value(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const mantissa = bits & 1023;
  const sign = bits & 0x8000 ? -1 : 1;
  if (exponent === 31) return mantissa > 0 ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (exponent > 0 ? (1 + mantissa / 1024) * 2 ** (exponent - 15) : mantissa * 2 ** -24);
}

/** Returns the number of a key: a BigInt for 64-bit integers. */
export function keyValue(bits: bigint, info: DtypeInfo): number | bigint {
  const { kind, width } = info;
  if (kind !== 'float') {
    const exact = kind === 'signed' ? BigInt.asIntN(width, bits) : bits;
    return width === 64 ? exact : Number(exact);
  }
  if (width === 16) return halfDecoder(info)(Number(bits));
  scratch.setBigUint64(0, width === 32 ? bits << 32n : bits);
  return width === 32 ? scratch.getFloat32(0) : scratch.getFloat64(0);
}

/** Returns the bits of the float that equals the number or is next to it: for f16 the one towards zero. */
export function numberBits(value: number, { name, width }: DtypeInfo): bigint {
  if (name === 'bf16') return BigInt(bf16Bits(value));
  if (width === 32) scratch.setFloat32(0, value);
  else scratch.setFloat64(0, value);
  if (width === 64) return scratch.getBigUint64(0);
  const high = scratch.getUint32(0);
  if (width === 32) return BigInt(high);
  const sign = (high >>> 16) & 0x8000;
  const exponent = ((high >>> 20) & 0x7ff) - 1023;
  if (Math.abs(value) === Number.POSITIVE_INFINITY) return BigInt(sign | 0x7c00);
  if (exponent > 15) return BigInt(sign | 0x7bff); // the largest finite number
  if (exponent < -14) return BigInt(sign | Math.floor(Math.abs(value) * 2 ** 24));
  return BigInt(sign | ((exponent + 15) << 10) | ((high >>> 10) & 0x3ff));
}

/** Returns the largest finite number of a floating dtype. */
export const largestNumber = (info: DtypeInfo): number => Number(keyValue(infinityBits(info) - 1n, info));

/** Finds where the keys between two numbers begin and end, in codes of ascending order. */
export class CodeEdges {
  readonly #codec: KeyCodec;
  readonly #smallest: bigint;
  readonly #largest: bigint;

  constructor(info: DtypeInfo) {
    this.#codec = keyCodec(info.name);
    const bits = BigInt(info.width);
    this.#smallest = info.kind === 'signed' ? -(1n << (bits - 1n)) : 0n;
    this.#largest = this.#smallest + (1n << bits) - 1n;
  }

  /** Returns the code of the smallest key at or above `value`; undefined if there is none. −0 is the smallest zero. */
  from(value: number | bigint): bigint | undefined {
    const { dtype } = this.#codec;
    if (dtype.kind === 'float') return this.#near(Number(value), (key, wanted) => key < wanted, 1n, -0);
    if (value > this.#largest) return undefined;
    if (value <= this.#smallest) return 0n;
    return this.#codeOf(typeof value === 'bigint' ? value : BigInt(Math.ceil(value)));
  }

  /** Returns the code of the largest key at or below `value`; undefined if there is none. +0 is the largest zero. */
  upTo(value: number | bigint): bigint | undefined {
    const { dtype } = this.#codec;
    if (dtype.kind === 'float') return this.#near(Number(value), (key, wanted) => key > wanted, -1n, 0);
    if (value < this.#smallest) return undefined;
    if (value >= this.#largest) return this.#codeOf(this.#largest);
    return this.#codeOf(typeof value === 'bigint' ? value : BigInt(Math.floor(value)));
  }

  #near(value: number, beyond: (key: number, value: number) => boolean, step: bigint, zero: number): bigint {
    const { dtype } = this.#codec;
    const bits = numberBits(value === 0 ? zero : value, dtype);
    const key = Number(keyValue(bits, dtype));
    if (beyond(key, value)) return encode(this.#codec, bits) + step;
    return encode(this.#codec, key === 0 ? numberBits(zero, dtype) : bits);
  }

  #codeOf(value: bigint): bigint {
    return encode(this.#codec, BigInt.asUintN(this.#codec.dtype.width, value));
  }
}

/** Returns the text of NaN and of infinities in files of text; undefined for other numbers. */
export const nonFiniteText = (value: number): string | undefined =>
  Number.isFinite(value) ? undefined : Number.isNaN(value) ? 'nan' : value < 0 ? '-inf' : 'inf';
