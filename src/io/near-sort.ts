/**
 * Sorts only the upper digits of the keys on the device and finishes with an insertion sort on the host. After the
 * upper digits few keys are out of order, and not by far. For 64-bit keys this takes two or three passes instead of
 * six.
 */
import { availableParallelism } from 'node:os';
import { digitsOf } from '../algorithms/digits.js';
import { codecWords } from '../keys/key-codec.js';
import type { Sorter } from '../sort/api/sorter.js';
import { UnsupportedError } from '../util/errors.js';
import type { MaskedCodec } from './record-ordering.js';

/** Bits per digit, as the device sorts them. */
const DIGIT_BITS = 11;
/**
 * Sorted bits may fall short of log2(n) by this many, which leaves a few keys per sorted value to the insertion sort.
 */
const MIN_SAVED_BITS = 2;
/** Minimum number of passes to save, since the insertion sort takes as long as one. */
const MIN_SAVED_PASSES = 2;
/** Number of failed attempts after which the method is no longer used. */
const MAX_FAILURES = 3;

/** Sorts the partitions of one order. */
export class NearSort {
  readonly #codes: MaskedCodec;
  #failures = 0;

  constructor(codes: MaskedCodec) {
    this.#codes = codes;
  }

  /**
   * Returns the lowest bit that the device sorts by before `finish` sorts the rest; `begin` when it sorts by all bits.
   *
   * @param sorter its device must be a CPU for a partial sort
   * @param n number of keys
   * @param range bits `begin` to `end` in which the codes differ
   */
  firstBit(sorter: Sorter, n: number, [begin, end]: readonly [begin: number, end: number]): number {
    if (this.#failures >= MAX_FAILURES || sorter.device?.type !== 'cpu') return begin;
    const wanted = Math.log2(Math.max(2, n)) - MIN_SAVED_BITS;
    const passes = digitsOf([begin, end], DIGIT_BITS).length;
    for (let few = 1; few + MIN_SAVED_PASSES <= passes; few++) {
      let first = end;
      while (first > begin && digitsOf([first - 1, end], DIGIT_BITS).length <= few) first--;
      if (end - first >= wanted) return first;
    }
    return begin;
  }

  /**
   * Sorts keys in place that are already sorted by their upper bits.
   *
   * @param keys the keys
   * @param keyBytes size of a key in bytes
   * @returns false when the keys are too far out of order, where equal keys keep their order, or without the addon
   */
  async finish(keys: Uint8Array, keyBytes: number): Promise<boolean> {
    const { nearSortAsync } = await import('../opencl/index.js');
    const sorted = new Uint32Array(1);
    try {
      await nearSortAsync(
        keys,
        keyBytes as 1,
        codecWords(this.#codes.codec, this.#codes.mask),
        sorted,
        availableParallelism(),
      );
    } catch (error) {
      if (!(error instanceof UnsupportedError)) throw error;
    }
    if (sorted[0] !== 1) this.#failures++;
    return sorted[0] === 1;
  }
}
