/**
 * Whether two streams of units hold the same units, each as often: the multisets of multiset.ts, also for units that
 * are no words of 1, 2, 4 or 8 bytes.
 *
 * Such a unit counts as a number of 62 bits that is drawn for it: two sums, modulo the prime q = 2^31 - 1, of its pairs
 * of bytes (of an odd number its bytes), each times a random factor of its place (multilinear hashing, after Carter and
 * Wegman, "Universal classes of hash functions", 1979). Two units that differ get the same number with probability 2^-60 at
 * most, whatever they are. So a unit that is more often in one stream than in the other goes unseen only when another one of
 * them gets its number: 2^-30 for streams of 2^29 units, beside what multiset.ts says. Streams that are told to differ do.
 */
import { createHash } from 'node:crypto';
import { bytesOf, keyWords } from '../keys/array.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import { inSlices, runYielding } from '../sort/host/steps.js';
import { Multiset, type Points, type StoredProducts } from './multiset.js';

/** Units that are words, whose multisets need no hashing. */
const WORDS: Readonly<Record<number, Dtype>> = { 1: 'u8', 2: 'u16', 4: 'u32', 8: 'u64' };

/** Units that are hashed in a step. */
const SLICE = 2 ** 12;

/** What has been counted of one stream. */
export class RecordMultiset {
  readonly #recordBytes: number;
  readonly #multiset: Multiset;
  readonly #hash: RecordHash | undefined;

  /** @param points the same for both streams that are compared, see `randomPoints` */
  constructor(recordBytes: number, points: Points) {
    const word = WORDS[recordBytes];
    this.#recordBytes = recordBytes;
    this.#multiset = new Multiset(dtypeInfo(word ?? 'u64'), points);
    if (!word) this.#hash = new RecordHash(recordBytes, points);
  }

  /** Counts whole units in; `bytes` must not change meanwhile. One call at a time. */
  async add(bytes: Uint8Array): Promise<void> {
    const hash = this.#hash;
    if (!hash) return this.#multiset.add(bytes);
    const n = bytes.length / this.#recordBytes;
    const numbers = new Uint32Array(2 * n);
    const words = hash.wordsOf(bytes);
    await runYielding(inSlices(n, (start, end) => hash.numbers(words, start, end, numbers), SLICE));
    await this.#multiset.add(bytesOf(numbers));
  }

  /** What was counted, to be included in another one of the same points. */
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

const PRIME = 2 ** 31 - 1;

/** Products of 16 and 31 bits that a double adds up exactly, with what is left of those before. */
const EXACT_SUMS = 64;

/** Numbers of units, which depend on the points. */
class RecordHash {
  /** Words of a unit: pairs of bytes, or bytes where their number is odd. */
  readonly #words: number;
  readonly #pairs: boolean;
  /** Of either sum, for each word. */
  readonly #factors: readonly [Float64Array, Float64Array];

  constructor(recordBytes: number, points: Points) {
    this.#pairs = recordBytes % 2 === 0;
    this.#words = this.#pairs ? recordBytes / 2 : recordBytes;
    const outputLength = 2 * 4 * this.#words;
    const random = createHash('shake256', { outputLength }).update(bytesOf(points)).digest();
    const numbers = new Uint32Array(random.buffer.slice(random.byteOffset, random.byteOffset + outputLength));
    // Of 31 random bits the prime itself, which is all ones, counts as 0.
    const factors = Float64Array.from(numbers, (number) => (number & PRIME) % PRIME);
    this.#factors = [factors.subarray(0, this.#words), factors.subarray(this.#words)];
  }

  wordsOf(bytes: Uint8Array): Uint16Array {
    // Bytes stand for pairs, too: both are indexed alike.
    return (this.#pairs ? keyWords(bytes, dtypeInfo('u16')) : bytes) as Uint16Array;
  }

  /** The two halves of the number of each unit. @param all words of `wordsOf` */
  numbers(all: Uint16Array, start: number, end: number, to: Uint32Array): void {
    const [factorsA, factorsB] = this.#factors;
    const words = this.#words;
    for (let i = start; i < end; i++) {
      let a = 0;
      let b = 0;
      for (let k = 0, at = i * words; k < words; ) {
        const until = Math.min(k + EXACT_SUMS, words);
        // Each sum in two halves, since an addition waits for the one before it.
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

/** What is left of a whole number below 2^53, by the prime: faster than %. */
function remainder(sum: number): number {
  const left = sum - Math.floor(sum / PRIME) * PRIME; // the quotient may be rounded up to one too many
  return left < 0 ? left + PRIME : left;
}
