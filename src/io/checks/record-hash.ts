import { createHash } from 'node:crypto';
import { bytesOf, keyWords } from '../../keys/array.js';
import { dtypeInfo } from '../../keys/dtype.js';

/** Modulus of the hash: a Mersenne prime whose products with 16 bits are exact in a double. */
const PRIME = 2 ** 31 - 1;

/** Number of 16-by-31-bit products that a double sums exactly, in addition to a remainder. */
const EXACT_SUMS = 64;

/**
 * Hashes records to 62 bits: two sums, modulo the prime q = 2^31 - 1, of their byte pairs (of their bytes if their
 * number is odd), each times a random factor for its place. This is multilinear hashing, after Carter and Wegman,
 * "Universal classes of hash functions" (1979). Two different records collide with a probability of at most 2^-60.
 */
export class RecordHash {
  /** Words per record: byte pairs, or bytes if their number is odd. */
  readonly #words: number;
  readonly #pairs: boolean;
  /** A factor per word, for each of the two sums. */
  readonly #factors: readonly [Float64Array, Float64Array];

  /** @param points random numbers, from which the factors are derived */
  constructor(recordBytes: number, points: BigUint64Array) {
    this.#pairs = recordBytes % 2 === 0;
    this.#words = this.#pairs ? recordBytes / 2 : recordBytes;
    const outputLength = 2 * 4 * this.#words;
    const random = createHash('shake256', { outputLength }).update(bytesOf(points)).digest();
    const numbers = new Uint32Array(random.buffer.slice(random.byteOffset, random.byteOffset + outputLength));
    // 2^31 - 1 itself, all 31 bits set, is congruent to 0.
    const factors = Float64Array.from(numbers, (number) => (number & PRIME) % PRIME);
    this.#factors = [factors.subarray(0, this.#words), factors.subarray(this.#words)];
  }

  wordsOf(bytes: Uint8Array): Uint16Array {
    // Typed as Uint16Array for both cases, which are indexed alike.
    return (this.#pairs ? keyWords(bytes, dtypeInfo('u16')) : bytes) as Uint16Array;
  }

  /**
   * Writes the two halves of the hash of each record.
   *
   * @param all words returned by `wordsOf`
   */
  numbers(all: Uint16Array, start: number, end: number, to: Uint32Array): void {
    const [factorsA, factorsB] = this.#factors;
    const words = this.#words;
    for (let i = start; i < end; i++) {
      let a = 0;
      let b = 0;
      for (let k = 0, at = i * words; k < words; ) {
        const until = Math.min(k + EXACT_SUMS, words);
        // Two accumulators per sum shorten the dependency chain of additions.
        let [halfA, halfB] = [0, 0];
        for (; k + 1 < until; k += 2, at += 2) {
          const word = all[at] as number;
          const next = all[at + 1] as number;
          a += word * (factorsA[k] as number);
          b += word * (factorsB[k] as number);
          halfA += next * (factorsA[k + 1] as number);
          halfB += next * (factorsB[k + 1] as number);
        }
        if (k < until) {
          const word = all[at++] as number;
          a += word * (factorsA[k] as number);
          b += word * (factorsB[k++] as number);
        }
        a = remainder(a + halfA);
        b = remainder(b + halfB);
      }
      to[2 * i] = a;
      to[2 * i + 1] = b;
    }
  }
}

/** Returns the remainder of an integer below 2^53 by the prime; faster than %. */
function remainder(sum: number): number {
  const left = sum - Math.floor(sum / PRIME) * PRIME; // the quotient may be rounded up by one
  return left < 0 ? left + PRIME : left;
}
