/**
 * Compares two streams of keys, or of records of any size, as multisets, in constant memory.
 *
 * The multiset of keys is represented by a polynomial in R and S: the product of R + low(k) + S high(k) over its keys
 * k, where low and high are 60 and 4 bits of the key. Each factor is a different linear polynomial in R, so by unique
 * factorisation different multisets have different polynomials. These are evaluated modulo the prime p = 2^61 - 1, at
 * two points drawn at random for each comparison.
 *
 * Different products or key counts imply different multisets, with certainty. Different multisets of n keys have equal
 * products at one point with a probability of at most n / p (Schwartz and Zippel), so (n / p)^2 at both: below 2^-65
 * for 2^28 keys and 2^-57 for 2^32. The bound holds for adversarial keys, since the points are not known in advance.
 *
 * Records that are not words of 1, 2, 4 or 8 bytes are hashed first (record-hash.ts). A difference between streams is
 * then also missed when another record of the streams collides with the one that differs: 2^-30 for 2^29 records.
 */
import { randomBytes } from 'node:crypto';
import { bytesOf, keyWords } from '../../keys/array.js';
import { type Dtype, type DtypeInfo, dtypeInfo } from '../../keys/dtype.js';
import { multisetAsync } from '../../native-host/host-functions.js';
import { inSlices, runYielding } from '../../sort/host/steps.js';
import { UnsupportedError } from '../../util/errors.js';
import { hostThreads } from '../../util/threads.js';
import { RecordHash } from './record-hash.js';

/** Modulus of the hash: a Mersenne prime, which makes reductions cheap. */
const PRIME = 2n ** 61n - 1n;

/** Dtypes of records that are words and need no hashing. */
const WORDS: Readonly<Record<number, Dtype>> = { 1: 'u8', 2: 'u16', 4: 'u32', 8: 'u64' };

/** Records hashed per step, after which the event loop may run. */
const SLICE = 2 ** 12;

/** r and s of two points. */
export type Points = BigUint64Array;

/** Draws random points. */
export function randomPoints(): Points {
  const points = new BigUint64Array(4);
  for (let i = 0; i < points.length; ) {
    const number = randomBytes(8).readBigUInt64LE() & PRIME;
    if (number < PRIME) points[i++] = number; // redrawn when out of range, for a uniform distribution
  }
  return points;
}

/** Products of one stream in serializable form. */
export interface StoredProducts {
  readonly keys: number;
  /** Decimal numbers. */
  readonly products: readonly string[];
}

/** Products of one stream of records. */
export class Multiset {
  readonly #recordBytes: number;
  readonly #info: DtypeInfo;
  readonly #hash: RecordHash | undefined;
  readonly #points: Points;
  readonly #products = BigUint64Array.of(1n, 1n);
  #keys = 0;
  #native: boolean;

  /**
   * @param recordBytes bytes of a key or record
   * @param points random points, the same for both streams
   * @param options.native use the addon if it is available; default true
   */
  constructor(recordBytes: number, points: Points, { native = true } = {}) {
    const word = WORDS[recordBytes];
    this.#recordBytes = recordBytes;
    this.#info = dtypeInfo(word ?? 'u64');
    this.#points = points;
    this.#native = native;
    if (!word) this.#hash = new RecordHash(recordBytes, points);
  }

  /** Adds whole records; `bytes` must not change until the promise resolves. Calls must not overlap. */
  async add(bytes: Uint8Array): Promise<void> {
    const hash = this.#hash;
    if (!hash) return this.#addWords(bytes);
    const n = bytes.length / this.#recordBytes;
    const numbers = new Uint32Array(2 * n);
    const words = hash.wordsOf(bytes);
    await runYielding(inSlices(n, (start, end) => hash.numbers(words, start, end, numbers), SLICE));
    await this.#addWords(bytesOf(numbers));
  }

  async #addWords(bytes: Uint8Array): Promise<void> {
    const keys = keyWords(bytes, this.#info);
    this.#keys += keys.length;
    if (this.#native) {
      try {
        const { bytes: width } = this.#info;
        return await multisetAsync(keys, width as 1, this.#points, this.#products, hostThreads());
      } catch (error) {
        if (!(error instanceof UnsupportedError)) throw error;
        this.#native = false; // the addon is not available
      }
    }
    for (const point of [0, 1] as const) {
      const product = new Product(this.#points.subarray(2 * point), this.#products[point] ?? 1n);
      await runYielding(inSlices(keys.length, (start, end) => product.multiply(keys.subarray(start, end))));
      this.#products[point] = product.value;
    }
  }

  /** The products of all keys added so far. */
  get stored(): StoredProducts {
    return { keys: this.#keys, products: Array.from(this.#products, String) };
  }

  /** Adds the keys of another multiset with the same points. */
  include({ keys, products }: StoredProducts): void {
    this.#keys += keys;
    products.forEach((product, i) => {
      this.#products[i] = ((this.#products[i] ?? 1n) * BigInt(product)) % PRIME;
    });
  }

  equals(other: Multiset): boolean {
    return this.#keys === other.#keys && this.#products.every((product, i) => product === other.#products[i]);
  }
}

/** Ranges of the 21, 21 and 19-bit parts of a number, whose products fit exactly into a double. */
const PART = 2 ** 21;
const HIGH_PART = 2 ** 19;
type Parts = [low: number, middle: number, high: number];

const splitNumber = (number: bigint): Parts => [
  Number(number & 0x1f_ffffn),
  Number((number >> 21n) & 0x1f_ffffn),
  Number(number >> 42n),
];

/** One product in plain numbers, an order of magnitude faster than BigInt. */
class Product {
  readonly #r: Parts;
  /** s times each value of a key's upper four bits. */
  readonly #high: readonly Parts[];
  #value: Parts;

  constructor([r = 0n, s = 0n]: Points, value: bigint) {
    this.#r = splitNumber(r);
    this.#high = Array.from({ length: 16 }, (_, bits) => splitNumber((s * BigInt(bits)) % PRIME));
    this.#value = splitNumber(value);
  }

  get value(): bigint {
    const [low, middle, high] = this.#value;
    return (BigInt(low) + (BigInt(middle) << 21n) + (BigInt(high) << 42n)) % PRIME;
  }

  multiply(keys: ReturnType<typeof keyWords>): void {
    const wide = keys.BYTES_PER_ELEMENT === 8;
    const words = wide
      ? new Uint32Array(keys.buffer, keys.byteOffset, keys.length * 2)
      : (keys as Uint8Array | Uint16Array | Uint32Array);
    const [r0, r1, r2] = this.#r;
    let [a0, a1, a2] = this.#value;
    for (let i = 0; i < words.length; i += wide ? 2 : 1) {
      const low = words[i] as number;
      const high = wide ? (words[i + 1] as number) : 0;
      const [h0, h1, h2] = this.#high[high >>> 28] as Parts;
      const b0 = r0 + h0 + (low & 0x1f_ffff);
      const b1 = r1 + h1 + ((low >>> 21) | ((high & 0x3ff) << 11));
      const b2 = r2 + h2 + ((high >>> 10) & 0x3_ffff);
      // 2^63 is congruent to 4, since 2^61 is congruent to 1.
      let low0 = a0 * b0 + 4 * (a1 * b2 + a2 * b1);
      let carry = Math.floor(low0 / PART);
      low0 -= carry * PART;
      let middle = a0 * b1 + a1 * b0 + 4 * a2 * b2 + carry;
      carry = Math.floor(middle / PART);
      middle -= carry * PART;
      let top = a0 * b2 + a1 * b1 + a2 * b0 + carry;
      carry = Math.floor(top / HIGH_PART);
      top -= carry * HIGH_PART;
      low0 += carry;
      carry = Math.floor(low0 / PART);
      a0 = low0 - carry * PART;
      a1 = middle + carry;
      a2 = top;
    }
    this.#value = [a0, a1, a2];
  }
}
