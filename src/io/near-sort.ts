/**
 * Keys of which a device sorts the highest digits only: in what remains few are out of order, and not far, which insertion
 * mends in one walk over them. Of keys of 64 bits that takes two or three passes where all digits would take six.
 */
import { availableParallelism } from 'node:os';
import { digitsOf } from '../algorithms/digits.js';
import { codecWords } from '../keys/key-codec.js';
import type { Sorter } from '../sort/api/sorter.js';
import { UnsupportedError } from '../util/errors.js';
import type { MaskedCodec } from './record-ordering.js';

/** Bits of a digit as devices take them that these sorts are made on. */
const DIGIT_BITS = 11;
/** Bits that a place is left to insertion by: some keys for each value of what was sorted. */
const MIN_SAVED_BITS = 2;
/** Passes that have to be spared, since the walk takes as long as one. */
const MIN_SAVED_PASSES = 2;
/** Sorts in vain after which it is not tried any more. */
const MAX_FAILURES = 3;

/** Sorts the partitions of one order. */
export class NearSort {
  readonly #codes: MaskedCodec;
  #failures = 0;

  constructor(codes: MaskedCodec) {
    this.#codes = codes;
  }

  /**
   * From which bit on `n` keys that differ in bits `begin` to `end` of their codes are to be sorted on the device, before
   * the rest of it is left to `finish`; `begin` where all are.
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
   * Sorts keys in place whose higher bits have been sorted by.
   *
   * @returns false if they are too far from being in order: equal ones are as they were then
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
