import { type Dtype, type DtypeInfo, dtypeInfo } from './dtype.js';

/**
 * Order of the keys.
 *
 * @example
 * ```ts
 * await sort(keys, { descending: true, nan: 'first' });
 * ```
 */
export interface Order {
  /**
   * Sorts from the largest to the smallest key. Equal keys still keep their input order.
   *
   * @defaultValue `false`
   */
  readonly descending?: boolean;
  /**
   * Position of NaNs, in ascending and in descending order.
   *
   * @defaultValue `'last'`
   */
  readonly nan?: 'first' | 'last';
}

/**
 * Bijection between the bit patterns of a dtype and unsigned codes of the same width, whose numeric order is the
 * requested order. It is pure data, so that device and host share one definition:
 *
 *     code = key ^ (top bit of key set ? negativeFlip : positiveFlip)
 *     code = code - rotate                                  (mod 2^w: both signs of NaN end on top)
 *     code = descending && code <= lastNumber ? lastNumber - code : code
 *     code = code + nanShift                                (mod 2^w: NaNs wrap to the bottom)
 */
export interface KeyCodec {
  readonly dtype: DtypeInfo;
  readonly positiveFlip: bigint;
  readonly negativeFlip: bigint;
  readonly rotate: bigint;
  readonly lastNumber: bigint;
  readonly nanShift: bigint;
  readonly descending: boolean;
  /** Whether the code of every key is the key itself. */
  readonly identity: boolean;
}

/** Cached codecs of each dtype, indexed by direction and NaN position. */
const codecs = new Map<Dtype, KeyCodec[]>();

/**
 * Returns the codec of a dtype and an order. The same order gives the same object.
 *
 * @throws DtypeError when `dtype` is not a dtype
 */
export function keyCodec(dtype: Dtype, { descending = false, nan = 'last' }: Order = {}): KeyCodec {
  const order = (descending ? 2 : 0) + (nan === 'first' ? 1 : 0);
  const known = codecs.get(dtype)?.[order];
  if (known) return known;
  const codec = Object.freeze(makeCodec(dtype, descending, nan));
  const all = codecs.get(dtype) ?? [];
  all[order] = codec;
  codecs.set(dtype, all);
  return codec;
}

function makeCodec(dtype: Dtype, descending: boolean, nan: Required<Order>['nan']): KeyCodec {
  const type = dtypeInfo(dtype);
  const ones = (1n << BigInt(type.width)) - 1n;
  const top = 1n << BigInt(type.width - 1);
  const m = type.negativeNaNs;
  const positiveFlip = type.kind === 'unsigned' ? 0n : top;
  const negativeFlip = type.kind === 'float' ? ones : positiveFlip;
  return {
    dtype: type,
    positiveFlip,
    negativeFlip,
    rotate: m,
    lastNumber: ones - 2n * m,
    nanShift: nan === 'first' ? 2n * m : 0n,
    descending,
    identity: type.kind === 'unsigned' && !descending,
  };
}

/** Returns the code of one key. Both are unsigned bit patterns. */
export function encode(codec: KeyCodec, bits: bigint): bigint {
  const w = codec.dtype.width;
  const flip = bits >> BigInt(w - 1) ? codec.negativeFlip : codec.positiveFlip;
  let code = BigInt.asUintN(w, (bits ^ flip) - codec.rotate);
  if (codec.descending && code <= codec.lastNumber) code = codec.lastNumber - code;
  return BigInt.asUintN(w, code + codec.nanShift);
}

/** Inverse of `encode`. */
export function decode(codec: KeyCodec, code: bigint): bigint {
  const w = codec.dtype.width;
  let bits = BigInt.asUintN(w, code - codec.nanShift);
  if (codec.descending && bits <= codec.lastNumber) bits = codec.lastNumber - bits;
  bits = BigInt.asUintN(w, bits + codec.rotate);
  // Flipping with negativeFlip clears the top bit of a negative key, positiveFlip sets it on a positive
  // one (signed and float); unsigned keys flip nothing.
  return bits ^ (bits >> BigInt(w - 1) ? codec.positiveFlip : codec.negativeFlip);
}

/**
 * Returns the codec as a kernel argument: an 8-vector of code words, `uint8` up to 32-bit keys, `ulong8` for 64-bit
 * keys. cl/key_codec.clh defines the order of the components.
 */
export function codecVector(codec: KeyCodec): Uint32Array | BigUint64Array {
  const words = [
    codec.positiveFlip,
    codec.negativeFlip,
    codec.rotate,
    codec.lastNumber,
    codec.nanShift,
    codec.descending ? 1n : 0n,
    codec.identity ? 1n : 0n,
    0n,
  ];
  return codec.dtype.width === 64 ? BigUint64Array.from(words) : Uint32Array.from(words, Number);
}

/** Returns the codec as the addon expects it: seven 64-bit words, the last one a mask of the code bits that count. */
export function codecWords(codec: KeyCodec, mask: bigint): BigUint64Array {
  const { positiveFlip, negativeFlip, rotate, lastNumber, nanShift, descending } = codec;
  return BigUint64Array.of(
    positiveFlip,
    negativeFlip,
    rotate,
    lastNumber,
    nanShift,
    descending ? 1n : 0n,
    mask,
  );
}
