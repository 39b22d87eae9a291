/**
 * Compares two streams of records as multisets (multiset.ts), for records of any size.
 *
 * A record that is not a word of 1, 2, 4 or 8 bytes is hashed to 62 bits: two sums, modulo the prime q = 2^31 - 1, of
 * its byte pairs (of its bytes if their number is odd), each times a random factor for its place. This is multilinear
 * hashing, after Carter and Wegman, "Universal classes of hash functions" (1979). Two different records collide with a
 * probability of at most 2^-60. A difference between streams is missed only when another record of the streams collides
 * with the one that differs: 2^-30 for streams of 2^29 records, in addition to the bound of multiset.ts. Streams
 * reported as different do differ.
 */
import { createHash } from 'node:crypto';
import { bytesOf, keyWords } from '../../keys/array.js';
import { type Dtype, dtypeInfo } from '../../keys/dtype.js';
import { inSlices, runYielding } from '../../sort/host/steps.js';
import { Multiset, type Points, type StoredProducts } from './multiset.js';

/** Dtypes of records that are words and need no hashing. */
const WORDS: Readonly<Record<number, Dtype>> = { 1: 'u8', 2: 'u16', 4: 'u32', 8: 'u64' };

/** Records hashed per step, after which the event loop may run. */
const SLICE = 2 ** 12;

/** The multiset of one stream of records. */
export class RecordMultiset {
  readonly #recordBytes: number;
  readonly #multiset: Multiset;
  readonly #hash: RecordHash | undefined;

  /**
   * @param recordBytes record size in bytes
   * @param points random points, the same for both streams; see `randomPoints`
   */
  constructor(recordBytes: number, points: Points) {
    const word = WORDS[recordBytes];
    this.#recordBytes = recordBytes;
    this.#multiset = new Multiset(dtypeInfo(word ?? 'u64'), points);
    if (!word) this.#hash = new RecordHash(recordBytes, points);
  }

  /** Adds whole records; `bytes` must not change until the promise resolves. Calls must not overlap. */
  async add(bytes: Uint8Array): Promise<void> {
    const hash = this.#hash;
    if (!hash) return this.#multiset.add(bytes);
    const n = bytes.length / this.#recordBytes;
    const numbers = new Uint32Array(2 * n);
    const words = hash.wordsOf(bytes);
    await runYielding(inSlices(n, (start, end) => hash.numbers(words, start, end, numbers), SLICE));
    await this.#multiset.add(bytesOf(numbers));
  }

  /** The products so far, for `include` of another multiset with the same points. */
  get stored(): StoredProducts {
    return this.#multiset.stored;
  }

  include(stored: StoredProducts): void {
    this.#multiset.include(stored);
  }

  equals(other: RecordMultiset): boolean {
    return this.#multiset.equals(other.#multiset);
  }
}

/** Modulus of the hash: a Mersenne prime whose products with 16 bits are exact in a double. */
const PRIME = 2 ** 31 - 1;

/** Number of 16-by-31-bit products that a double sums exactly, in addition to a remainder. */
const EXACT_SUMS = 64;

/** Hashes records with factors derived from the points. */
class RecordHash {
  /** Words per record: byte pairs, or bytes if their number is odd. */
  readonly #words: number;
  readonly #pairs: boolean;
  /** A factor per word, for each of the two sums. */
  readonly #factors: readonly [Float64Array, Float64Array];

  constructor(recordBytes: number, points: Points) {
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
