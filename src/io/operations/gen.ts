import { type KeyWords, keyWords } from '../../keys/array.js';
import { codeWordsOf, decodeRecords } from '../../keys/codec-records.js';
import { type Dtype, type DtypeInfo, dtypeInfo } from '../../keys/dtype.js';
import { keyCodec } from '../../keys/key-codec.js';
import { largestNumber, numberBits } from '../../keys/value.js';
import { integerBits } from '../../keys/widen.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { Random } from '../../util/random.js';
import { invalidName } from '../../util/suggest.js';

/** Distributions of test and benchmark data. */
export const DISTRIBUTIONS = [
  'uniform',
  'random-bits',
  'constant',
  'two',
  'sorted',
  'reversed',
  'nearly-sorted',
  'low-byte',
  'high-byte',
  'multiples',
  'and3',
  'and9',
  'and15',
  'timestamps',
  'runs',
  'special',
] as const;

export type Distribution = (typeof DISTRIBUTIONS)[number];

export interface GenRequest {
  readonly dtype: Dtype;
  readonly count: number;
  readonly distribution: Distribution;
  readonly seed: bigint | number;
  /**
   * With `uniform`: draws numbers between the two bounds instead of bit patterns. Integer bounds are BigInts, both
   * inclusive. The upper bound of floats is exclusive, except by rounding.
   */
  readonly range?: readonly [bigint, bigint] | readonly [number, number];
}

/** In 'nearly-sorted', one key out of this many is random. */
const STRAY_EVERY = 64;

/** 'timestamps': first second since 1970, keys per second, and exclusive upper bound of a key's delay in seconds. */
const FIRST_SECOND = 1_700_000_000;
const KEYS_A_SECOND = 1000;
const JITTER_SECONDS = 30;

/** Number of adjacent equal keys in 'runs'. */
const RUN_LENGTH = 32;

/**
 * Generates keys from a seed, piece by piece, so that files larger than memory can be written. The keys do not depend
 * on the piece sizes.
 *
 * Distributions of bit patterns, which include NaNs and infinities for floats:
 * - `random-bits`, and `uniform` without a range
 * - `low-byte`, `high-byte`
 * - `multiples`: multiples of 16, as addresses are
 * - `and3`, `and9`, `and15`: each bit is set with a probability of 2^-3, 2^-9, 2^-15
 * - `runs`: each uniform key is repeated 32 times, so that each digit also comes in runs
 *
 * Other distributions:
 * - `sorted`, `reversed`, `nearly-sorted`: by ascending codes
 * - `timestamps`: whole seconds since 1970 that rise by one every 1000 keys, each late by 0 to 29 seconds; narrow
 *   integers hold the low bits
 * - `special`: zeros, infinities, NaN payloads, denormals and extremes
 * - `constant`, `two`: one key, and two keys at random
 */
export class Generator {
  readonly #request: GenRequest;
  readonly #info: DtypeInfo;
  readonly #random: Random;
  /** Writes the code or bits of one key, one or two words. */
  readonly #draw: (at: number, out: Uint32Array, i: number) => void;
  readonly #codes: boolean;
  #at = 0;

  /**
   * @throws UsageError when the distribution is unknown
   * @throws DtypeError when the dtype is unknown
   */
  constructor(request: GenRequest) {
    const { distribution, dtype } = request;
    if (!DISTRIBUTIONS.includes(distribution)) throw invalidName('distribution', distribution, DISTRIBUTIONS);
    this.#request = request;
    this.#info = dtypeInfo(dtype);
    this.#random = new Random(request.seed);
    if (request.range) assertRange(request.range, this.#info);
    this.#codes = ['sorted', 'reversed', 'nearly-sorted'].includes(distribution);
    this.#draw = this.#drawer(distribution);
  }

  /** Number of keys left. */
  get remaining(): number {
    return this.#request.count - this.#at;
  }

  /** Returns the bytes of the next keys, at most `maxKeys`. */
  next(maxKeys: number): Uint8Array {
    const n = Math.min(maxKeys, this.remaining);
    const bytes = new Uint8Array(n * this.#info.bytes);
    const words = keyWords(bytes, this.#info);
    const stride = codeWordsOf(this.#info);
    const records = new Uint32Array(n * stride);
    for (let i = 0; i < n; i++) this.#draw(this.#at++, records, i * stride);
    if (this.#codes) decodeRecords(records, stride, words, keyCodec(this.#info.name));
    else copyBits(records, words);
    return bytes;
  }

  /** Draws the bits of numbers in a range. */
  #drawInRange([low, high]: NonNullable<GenRequest['range']>): (
    at: number,
    out: Uint32Array,
    i: number,
  ) => void {
    const random = this.#random;
    const { width } = this.#info;
    const wide = () => (BigInt(random.u32()) << 32n) | BigInt(random.u32());
    const bits =
      typeof low === 'bigint' && typeof high === 'bigint'
        ? // Draws 32 more bits than the range has, so that the bias towards some numbers is negligible.
          () =>
            BigInt.asUintN(
              width,
              low + ((((wide() << 32n) | BigInt(random.u32())) * (high - low + 1n)) >> 96n),
            )
        : () => {
            const share = (random.u32() * 2 ** 21 + (random.u32() >>> 11)) / 2 ** 53;
            return numberBits(Number(low) * (1 - share) + Number(high) * share, this.#info);
          };
    return (_, out, i) => {
      const drawn = bits();
      out[i] = Number(drawn & 0xffff_ffffn);
      if (width === 64) out[i + 1] = Number(drawn >> 32n);
    };
  }

  #drawer(distribution: Distribution): (at: number, out: Uint32Array, i: number) => void {
    const random = this.#random;
    const { width } = this.#info;
    const wide = width === 64;
    const uniform = (_: number, out: Uint32Array, i: number): void => {
      out[i] = random.u32();
      if (wide) out[i + 1] = random.u32();
    };
    const oneOf = (keys: readonly bigint[]) => (_: number, out: Uint32Array, i: number) => {
      const key = keys[random.below(keys.length)] ?? 0n;
      out[i] = Number(key & 0xffff_ffffn);
      if (wide) out[i + 1] = Number(key >> 32n);
    };
    const anyKey = (): bigint => BigInt.asUintN(width, (BigInt(random.u32()) << 32n) | BigInt(random.u32()));
    const and = (draws: number) => (_: number, out: Uint32Array, i: number) => {
      for (let word = i; word < i + (wide ? 2 : 1); word++) {
        let bits = 0xffff_ffff;
        for (let draw = 0; draw < draws; draw++) bits &= random.u32();
        out[word] = bits;
      }
    };
    let run: readonly [number, number] = [0, 0];
    const inRuns = (at: number, out: Uint32Array, i: number): void => {
      if (at % RUN_LENGTH === 0) run = [random.u32(), wide ? random.u32() : 0];
      out[i] = run[0];
      if (wide) out[i + 1] = run[1];
    };
    const inTime = (at: number, out: Uint32Array, i: number): void => {
      const seconds = FIRST_SECOND + Math.floor(at / KEYS_A_SECOND) + random.below(JITTER_SECONDS);
      if (this.#info.kind !== 'float') {
        out[i] = seconds;
        return;
      }
      const bits = numberBits(seconds, this.#info);
      out[i] = Number(bits & 0xffff_ffffn);
      if (wide) out[i + 1] = Number(bits >> 32n);
    };
    const rising = (at: number, out: Uint32Array, i: number): void =>
      codeAtShare((at + random.u32() / 2 ** 32) / this.#request.count, width, out, i);
    switch (distribution) {
      case 'random-bits':
        return uniform;
      case 'uniform':
        return this.#request.range ? this.#drawInRange(this.#request.range) : uniform;
      case 'constant':
        return oneOf([anyKey()]);
      case 'two':
        return oneOf([anyKey(), anyKey()]);
      case 'sorted':
        return rising;
      case 'reversed':
        return (at, out, i) => rising(this.#request.count - 1 - at, out, i);
      case 'nearly-sorted':
        return (at, out, i) => (random.below(STRAY_EVERY) === 0 ? uniform : rising)(at, out, i);
      case 'low-byte':
        return (_, out, i) => {
          out[i] = random.u32() & 0xff;
        };
      case 'high-byte':
        return (_, out, i) => {
          out[wide ? i + 1 : i] = (random.u32() & 0xff) << ((width - 8) % 32);
        };
      case 'multiples':
        return (at, out, i) => {
          uniform(at, out, i);
          out[i] = ((out[i] ?? 0) & ~15) >>> 0;
        };
      case 'and3':
        return and(3);
      case 'and9':
        return and(9);
      case 'and15':
        return and(15);
      case 'timestamps':
        return inTime;
      case 'runs':
        return inRuns;
      case 'special':
        return oneOf(specialKeys(this.#info));
    }
  }
}

/** Returns the bounds of [0, 1) for a floating dtype: 0 and the largest number below 1. */
export const unitRange = (info: DtypeInfo): readonly [number, number] => [0, 1 - 2 ** -integerBits(info)];

/** @throws UsageError when the dtype cannot represent a bound, or the bounds are in the wrong order */
function assertRange([low, high]: NonNullable<GenRequest['range']>, info: DtypeInfo): void {
  const { name, kind, width } = info;
  const minimum = kind === 'signed' ? -(2n ** BigInt(width - 1)) : 0n;
  const fits =
    kind === 'float'
      ? Math.max(Math.abs(Number(low)), Math.abs(Number(high))) <= largestNumber(info)
      : low >= minimum && high <= minimum + 2n ** BigInt(width) - 1n;
  if (fits && low <= high) return;
  throw invalidArgument('range', `two ${name} numbers, the smaller one first,`, {
    text: `${low} and ${high}`,
  });
}

/** Returns all keys of a request as bytes. */
export function generate(request: GenRequest): Uint8Array {
  return new Generator(request).next(request.count);
}

/** Returns zeros, extremes and neighbours; for floats also infinities, denormals and NaNs of both signs. */
export function specialKeys({ kind, width, negativeNaNs }: DtypeInfo): bigint[] {
  const ones = (1n << BigInt(width)) - 1n;
  const top = 1n << BigInt(width - 1);
  if (kind !== 'float') return [0n, 1n, 2n, top - 1n, top, top + 1n, ones - 1n, ones];
  const infinity = top - negativeNaNs - 1n;
  const quiet = (negativeNaNs + 1n) >> 1n;
  const positive = [
    0n, // zero
    1n, // smallest denormal
    negativeNaNs, // largest denormal
    negativeNaNs + 1n, // smallest normal
    infinity >> 1n, // an ordinary number
    infinity - 1n, // largest number
    infinity,
    infinity + 1n, // signalling NaN with the smallest payload
    infinity + quiet - 1n, // signalling NaN with the largest payload
    infinity + quiet, // the usual quiet NaN
    infinity + quiet + 1n,
    top - 1n, // quiet NaN with the largest payload
  ];
  return [...positive, ...positive.map((bits) => bits | top)];
}

/** Writes the code at `share` (0 to 1) of the code range; monotonic in `share`. */
function codeAtShare(share: number, width: number, out: Uint32Array, i: number): void {
  const scaled = Math.min(share, 1 - 2 ** -53) * 2 ** Math.min(width, 32);
  if (width < 64) {
    out[i] = Math.floor(scaled);
    return;
  }
  const high = Math.floor(scaled);
  out[i + 1] = high;
  out[i] = Math.floor((scaled - high) * 2 ** 21) * 2 ** 11; // a double has only 53 bits
}

function copyBits(records: Uint32Array, words: KeyWords): void {
  if (words.BYTES_PER_ELEMENT < 4) words.set(records as never);
  else new Uint32Array(words.buffer, words.byteOffset, records.length).set(records);
}
