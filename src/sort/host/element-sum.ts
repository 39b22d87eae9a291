/**
 * Order-independent sums of the elements of host memory: two independent 32-bit hashes of each element, summed. Equal
 * elements have equal sums; different elements have equal sums with a probability of about 2^-64.
 */
import { randomBytes } from 'node:crypto';
import { bytesOf, type KeyWords } from '../../keys/array.js';
import { wordAt } from '../../util/word-at.js';
import { inSlices, type Steps } from './steps.js';

const mixA = (hash: number, word: number): number => {
  let h = Math.imul(hash ^ word, 0x9e3779b1);
  h ^= h >>> 15;
  return Math.imul(h, 0x85ebca6b) ^ (h >>> 13);
};
const mixB = (hash: number, word: number): number => {
  let h = Math.imul(hash ^ word ^ (word >>> 16), 0xc2b2ae35);
  h ^= h >>> 16;
  return Math.imul(h, 0x27d4eb2f) ^ (h >>> 15);
};

/** Hashes before the first word of an element; random ones make differences unpredictable. */
export type SumSeeds = readonly [a: number, b: number];

const SEEDS: SumSeeds = [0x2545f491, 0x1b873593];

export const randomSeeds = (): SumSeeds => {
  const random = randomBytes(8);
  return [random.readInt32LE(0), random.readInt32LE(4)];
};

/** The sums of all elements that were added. */
export class ElementSum {
  readonly #seeds: SumSeeds;
  #sumA = 0;
  #sumB = 0;

  /** @param seeds the same for sums that are compared */
  constructor(seeds = SEEDS) {
    this.#seeds = seeds;
  }

  /** Adds an element of any length in bytes. */
  addBytes(memory: Uint8Array, start: number, end: number): void {
    let [a, b] = this.#seeds;
    for (let i = start; i < end; i += 4) {
      // Bytes beyond the end count as 0, so the length is hashed as well.
      const word = i + 4 <= end ? wordAt(memory, i) : wordAt(memory.subarray(i, end), 0);
      a = mixA(a, word);
      b = mixB(b, word);
    }
    this.#add(mixA(a, end - start), mixB(b, end - start));
  }

  /**
   * Adds keys, and the values that travel with them.
   *
   * @param width bytes of a value
   * @param times how often each key counts; default once
   */
  *addKeys(
    words: KeyWords,
    {
      values,
      width = 0,
      times,
    }: { values?: ArrayBufferView | undefined; width?: number; times?: Uint32Array },
  ): Steps {
    yield* inSlices(words.length, (start, end) => {
      const beside = values && bytesOf(values, start * width, end * width);
      this.#addSlice(words.subarray(start, end), beside, width, times?.subarray(start, end));
    });
  }

  #addSlice(
    words: KeyWords,
    values: Uint8Array | undefined,
    width: number,
    times: Uint32Array | undefined,
  ): void {
    const unit = words.BYTES_PER_ELEMENT;
    const halves =
      unit < 4
        ? (words as Uint8Array | Uint16Array)
        : new Uint32Array(words.buffer, words.byteOffset, words.byteLength / 4);
    const stride = unit === 8 ? 2 : 1;
    const [seedA, seedB] = this.#seeds;
    for (let i = 0; i < words.length; i++) {
      let a = seedA;
      let b = seedB;
      for (let j = i * stride; j < (i + 1) * stride; j++) {
        a = mixA(a, halves[j] as number);
        b = mixB(b, halves[j] as number);
      }
      if (values) {
        for (let j = i * width; j < (i + 1) * width; j++) {
          a = mixA(a, values[j] as number);
          b = mixB(b, values[j] as number);
        }
      }
      const count = times ? (times[i] as number) : 1;
      this.#add(Math.imul(mixA(a, 1), count), Math.imul(mixB(b, 2), count));
    }
  }

  #add(a: number, b: number): void {
    this.#sumA = (this.#sumA + a) | 0;
    this.#sumB = (this.#sumB + b) | 0;
  }

  /** Adds the elements of another sum with the same seeds. */
  include(other: ElementSum): void {
    this.#add(other.#sumA, other.#sumB);
  }

  equals(other: ElementSum): boolean {
    return this.#sumA === other.#sumA && this.#sumB === other.#sumB;
  }
}
