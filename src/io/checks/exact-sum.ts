import { elementsOf, type KeyWords } from '../../keys/array.js';
import { type DtypeInfo, isHalf } from '../../keys/dtype.js';
import { halfDecoder } from '../../keys/value.js';
import { integerSum } from '../../sort/host/host-primitives.js';
import { DOUBLE_SCALE, type Ratio } from '../../util/ratio.js';

/** Keys that are added to the partial sums, which are exact doubles, before they are added to the total. */
const SLICE = 2 ** 20;
/** Exponents of finite doubles: that of subnormal numbers is the smallest. */
const EXPONENTS = 2046;
const NOT_FINITE = 0x7ff;

/**
 * The exact sum of the numbers among keys. NaNs are left out.
 *
 * Floats are integers times a power of two. The significands are added by exponent, in halves, and then to an integer of
 * arbitrary size. Source of the idea: R. M. Neal, "Fast exact summation using small and large superaccumulators" (2015).
 */
export class ExactSum {
  readonly #info: DtypeInfo;
  /** The sum of integers, or of finite floats times 2^1074. */
  #total = 0n;
  #infinity = 0;
  readonly #highs = new Float64Array(EXPONENTS);
  readonly #lows = new Float64Array(EXPONENTS);

  constructor(info: DtypeInfo) {
    this.#info = info;
  }

  /** Returns the sum; a number if it is infinite, or NaN because infinities of both signs occur. */
  get value(): Ratio | number {
    if (this.#infinity !== 0) return this.#infinity;
    return {
      numerator: this.#total,
      denominator: this.#info.kind === 'float' ? 1n << BigInt(DOUBLE_SCALE) : 1n,
    };
  }

  add(words: KeyWords): void {
    for (let start = 0; start < words.length; start += SLICE) {
      const slice = words.subarray(start, start + SLICE);
      if (this.#info.kind === 'float') this.#addFloats(slice);
      else this.#total += integerSum(slice, this.#info);
    }
  }

  #addFloats(words: KeyWords): void {
    const { buffer, byteOffset, length } = this.#doubles(words);
    const pairs = new Uint32Array(buffer, byteOffset, 2 * length);
    for (let i = 0; i < pairs.length; i += 2) {
      const [low, high] = [pairs[i] as number, pairs[i + 1] as number];
      const exponent = (high >>> 20) & NOT_FINITE;
      const fraction = high & 0xf_ffff;
      const sign = high >>> 31 ? -1 : 1;
      if (exponent === NOT_FINITE) {
        if (fraction === 0 && low === 0) this.#addInfinity(sign);
        continue;
      }
      const at = exponent === 0 ? 0 : exponent - 1;
      (this.#highs[at] as number) += sign * (exponent === 0 ? fraction : fraction + 2 ** 20);
      (this.#lows[at] as number) += sign * low;
    }
    for (let at = 0; at < EXPONENTS; at++) {
      const [high, low] = [this.#highs[at] as number, this.#lows[at] as number];
      if (high === 0 && low === 0) continue;
      this.#total += ((BigInt(high) << 32n) + BigInt(low)) << BigInt(at);
      this.#highs[at] = 0;
      this.#lows[at] = 0;
    }
  }

  #addInfinity(sign: 1 | -1): void {
    const infinity = sign * Number.POSITIVE_INFINITY;
    this.#infinity = this.#infinity === 0 || this.#infinity === infinity ? infinity : Number.NaN;
  }

  #doubles(words: KeyWords): Float64Array {
    if (isHalf(this.#info)) return Float64Array.from(words as Uint16Array, halfDecoder(this.#info));
    const numbers = elementsOf(words, this.#info.name) as Float32Array | Float64Array;
    return numbers instanceof Float64Array ? numbers : Float64Array.from(numbers);
  }
}
