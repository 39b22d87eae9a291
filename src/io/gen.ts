import { type KeyWords, keyWords } from '../keys/array.js';
import { codeWordsOf, decodeRecords } from '../keys/codec-records.js';
import { type Dtype, type DtypeInfo, dtypeInfo } from '../keys/dtype.js';
import { keyCodec } from '../keys/key-codec.js';
import { numberBits } from '../keys/value.js';
import { integerBits } from '../keys/widen.js';
import { UsageError } from '../util/errors.js';
import { Random } from '../util/random.js';
import { unknownName } from '../util/suggest.js';

/** What test and benchmark data look like. */
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
   * With `uniform`: numbers from the first to the second instead of bit patterns, both included for integers, which are
   * BigInts here; of floats the second is not reached unless by rounding.
   */
  readonly range?: readonly [bigint, bigint] | readonly [number, number];
}

/** One key of a 'nearly-sorted' sequence in so many is anywhere. */
const STRAY_EVERY = 64;

/** Seconds since 1970 of the first of the 'timestamps', how many keys there are in a second, and by how much they are late at most. */
const FIRST_SECOND = 1_700_000_000;
const KEYS_A_SECOND = 1000;
const JITTER_SECONDS = 30;

/** Keys side by side that are equal in 'runs'. */
const RUN_LENGTH = 32;

/**
 * Makes keys from a seed, piece by piece, so that files larger than memory can be written. The keys do not
 * depend on where the pieces end.
 *
 * `random-bits`, as `uniform` without a range, `low-byte`, `high-byte`, `multiples` (of 16, as addresses are), `and3` … `and15` (bits set with a
 * chance of 2^-3 …) and `runs` (32 times the same uniform key, so that each digit comes in runs as well) are about bit patterns, so that floats
 * come with NaNs and infinities; `sorted`, `reversed` and `nearly-sorted` about codes in ascending order; `timestamps` are whole seconds since
 * 1970 that rise by one every 1000 keys, each of them late by 0 to 29 seconds (narrow integers have their low bits); `special` draws
 * from zeros, infinities, NaN payloads, denormals and extremes.
 */
export class Generator {
  readonly #request: GenRequest;
  readonly #info: DtypeInfo;
  readonly #random: Random;
  /** Codes or bits of the piece, one or two words each. */
  readonly #draw: (at: number, out: Uint32Array, i: number) => void;
  readonly #codes: boolean;
  #at = 0;

  /** @throws UsageError for an unknown distribution, DtypeError for an unknown dtype */
  constructor(request: GenRequest) {
    const { distribution, dtype } = request;
    if (!DISTRIBUTIONS.includes(distribution)) {
      throw new UsageError(unknownName('distribution', distribution, DISTRIBUTIONS));
    }
    this.#request = request;
    this.#info = dtypeInfo(dtype);
    this.#random = new Random(request.seed);
    if (request.range) assertRange(request.range, this.#info);
    this.#codes = ['sorted', 'reversed', 'nearly-sorted'].includes(distribution);
    this.#draw = this.#drawer(distribution);
  }

  /** Keys still to come. */
  get remaining(): number {
    return this.#request.count - this.#at;
  }

  /** The next keys, at most `most`, as bytes. */
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

  /** Numbers of a range, as bits. */
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
        ? // A word more than the range has, so that no number is drawn more often than another by as much as shows.
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

/** The range [0, 1) of a floating dtype: up to the largest number below 1. */
export const unitRange = (info: DtypeInfo): readonly [number, number] => [0, 1 - 2 ** -integerBits(info)];

/** @throws UsageError where the dtype does not hold the ends */
function assertRange([low, high]: NonNullable<GenRequest['range']>, { name, kind, width }: DtypeInfo): void {
  const minimum = kind === 'signed' ? -(2n ** BigInt(width - 1)) : 0n;
  const largest = { 16: 65_504, 32: 3.4028234663852886e38, 64: Number.MAX_VALUE, 8: 0 }[width];
  const fits =
    kind === 'float'
      ? Math.abs(Number(low)) <= largest && Math.abs(Number(high)) <= largest
      : low >= minimum && high <= minimum + 2n ** BigInt(width) - 1n;
  if (fits && low <= high) return;
  throw new UsageError(
    `a range from ${low} to ${high}: expected two numbers that ${name} holds, the smaller one first`,
  );
}

/** All keys of a request at once, as bytes. */
export function generate(request: GenRequest): Uint8Array {
  return new Generator(request).next(request.count);
}

/** Zeros, extremes and neighbours; for floats also infinities, denormals and NaNs of both signs. */
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
    infinity >> 1n, // a plain number
    infinity - 1n, // largest number
    infinity,
    infinity + 1n, // signalling NaN with the smallest payload
    infinity + quiet - 1n, // … with the largest
    infinity + quiet, // the usual quiet NaN
    infinity + quiet + 1n,
    top - 1n, // quiet NaN with the largest payload
  ];
  return [...positive, ...positive.map((bits) => bits | top)];
}

/** The code at `share` (0 to 1) of all codes; never falls when `share` rises. */
function codeAtShare(share: number, width: number, out: Uint32Array, i: number): void {
  const scaled = Math.min(share, 1 - 2 ** -53) * 2 ** Math.min(width, 32);
  if (width < 64) {
    out[i] = Math.floor(scaled);
    return;
  }
  const high = Math.floor(scaled);
  out[i + 1] = high;
  out[i] = Math.floor((scaled - high) * 2 ** 21) * 2 ** 11; // a double has 53 bits to give
}

function copyBits(records: Uint32Array, words: KeyWords): void {
  if (words.BYTES_PER_ELEMENT < 4) words.set(records as never);
  else new Uint32Array(words.buffer, words.byteOffset, records.length).set(records);
}
