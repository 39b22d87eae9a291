/**
 * Whether two streams of units hold the same units, each as often: the multisets of multiset.ts, also for units that
 * are no words of 1, 2, 4 or 8 bytes.
 *
 * Such a unit counts as a number of 62 bits that is drawn for it: two sums, modulo the prime q = 2^31 - 1, of each pair of
 * its bytes times a random factor of its place (multilinear hashing, after Carter and Wegman, "Universal classes of hash
 * functions", 1979). Two units that differ get the same number with probability q^-2 at most, whatever they are. So a unit that is
 * more often in one stream than in the other goes unseen only when one of the n others gets its number: below 2^-32 for
 * 2^29 units, beside what multiset.ts says. Streams that are told to differ do differ.
 */
import { createHash } from 'node:crypto';
import { bytesOf } from '../keys/array.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import { inSlices, inTurns } from '../sort/host/steps.js';
import { Multiset, type Points } from './multiset.js';

/** Units that are words, whose multisets need no hashing. */
const WORDS: Readonly<Record<number, Dtype>> = { 1: 'u8', 2: 'u16', 4: 'u32', 8: 'u64' };

/** Units that are hashed in a step. */
const SLICE = 2 ** 12;

/** What has been counted of one stream. */
export class UnitMultiset {
  readonly #unit: number;
  readonly #multiset: Multiset;
  readonly #hash: UnitHash | undefined;

  /** @param points the same for both streams that are compared, see `randomPoints` */
  constructor(unit: number, points: Points) {
    const word = WORDS[unit];
    this.#unit = unit;
    this.#multiset = new Multiset(dtypeInfo(word ?? 'u64'), points);
    if (!word) this.#hash = new UnitHash(unit, points);
  }

  /** Counts whole units in; `bytes` must not change meanwhile. One call at a time. */
  async add(bytes: Uint8Array): Promise<void> {
    const hash = this.#hash;
    if (!hash) return this.#multiset.add(bytes);
    const n = bytes.length / this.#unit;
    const numbers = new Uint32Array(2 * n);
    await inTurns(inSlices(n, (start, end) => hash.numbers(bytes, start, end, numbers), SLICE));
    await this.#multiset.add(bytesOf(numbers));
  }

  equals(other: UnitMultiset): boolean {
    return this.#multiset.equals(other.#multiset);
  }
}

const PRIME = 2 ** 31 - 1;

/** Products of a pair of bytes and a factor that a double adds up exactly. */
const EXACT_SUMS = 64;

/** Numbers of units, which depend on the points. */
class UnitHash {
  readonly #unit: number;
  /** Factors of both sums by turns, for each pair of bytes. */
  readonly #factors: Float64Array;

  constructor(unit: number, points: Points) {
    this.#unit = unit;
    this.#factors = new Float64Array(2 * Math.ceil(unit / 2));
    // 16 bytes for a factor, so that each is as likely but for 2^-97; nobody knows them who does not know the points.
    const random = createHash('shake256', { outputLength: 16 * this.#factors.length })
      .update(bytesOf(points))
      .digest();
    for (let i = 0; i < this.#factors.length; i++) {
      const [high, low] = [random.readBigUInt64LE(16 * i), random.readBigUInt64LE(16 * i + 8)];
      this.#factors[i] = Number(((high << 64n) | low) % BigInt(PRIME));
    }
  }

  /** The two halves of the number of each unit. */
  numbers(bytes: Uint8Array, start: number, end: number, to: Uint32Array): void {
    const factors = this.#factors;
    const unit = this.#unit;
    for (let i = start; i < end; i++) {
      const last = (i + 1) * unit;
      let a = 0;
      let b = 0;
      let f = 0;
      let sums = 0;
      for (let at = i * unit; at < last; at += 2, f += 2) {
        const pair = (bytes[at] as number) | (at + 1 < last ? (bytes[at + 1] as number) << 8 : 0);
        a += pair * (factors[f] as number);
        b += pair * (factors[f + 1] as number);
        if (++sums < EXACT_SUMS) continue;
        sums = 1; // what is left counts as one
        a %= PRIME;
        b %= PRIME;
      }
      to[2 * i] = a % PRIME;
      to[2 * i + 1] = b % PRIME;
    }
  }
}
