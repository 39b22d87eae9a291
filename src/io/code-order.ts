/**
 * The order of strings of bytes, made by sorts of 64-bit numbers.
 *
 * The first eight bytes of the codes are sorted together with positions. Where that leaves some equal, and codes are longer,
 * only those are sorted on: each gets a number made of its group, which are those it is equal to so far, and of as many of the
 * next bytes of its code as fit beside that, and all groups are sorted at once. So random keys take one sort, whatever their
 * length, and n codes of k bytes at most one and k / 4, of those that are still equal. Bytes that leave all groups as they are,
 * such as a prefix that all have, are looked at and not sorted.
 *
 * It is the refinement of groups of Larsson and Sadakane's suffix sorting ("Faster suffix sorting", 2007) with the
 * multikey idea of Bentley and Sedgewick ("Fast algorithms for sorting and searching strings", 1997), that what decided once
 * need not be looked at again. Sorting by the last word first (lexsort) would take a sort of everything for each word.
 */
import type { Sorter } from '../sort/api/sorter.js';
import { inSlices, runYielding, type Steps } from '../sort/host/steps.js';
import type { OrderingSortOptions } from './record-ordering.js';

/** Bytes of codes that make a word: what is compared as one number. */
export const WORD_BYTES = 8;

/** Which bytes of codes. */
export interface Span {
  readonly begin: number;
  /** At most WORD_BYTES behind the beginning. */
  readonly end: number;
}

/** Strings of bytes whose order as unsigned bytes (memcmp) is wanted; what is behind the end of one counts as zeros. */
export interface Codes {
  readonly n: number;
  /** Bytes of the longest one. */
  readonly bytes: number;
  /** Bytes at the beginning that all have alike; default 0. */
  readonly shared?: number;
  /**
   * Bytes `begin` to `end` of each code, as a number, into words that are zero.
   *
   * @param at which codes; by default all of them in order
   */
  fill(span: Span, words: BigUint64Array, at?: Uint32Array): Steps;
  /** Whether nothing of a code is behind byte `end`; those that are equal up to there are equal then. Default: as `bytes` says. */
  isOver?(code: number, end: number): boolean;
}

/** The positions of codes in order, as `Sorter.argsort` gives those of keys. */
export const argsortCodes = (
  sorter: Sorter,
  codes: Codes,
  options: Omit<OrderingSortOptions, 'into'>,
): Promise<Uint32Array> => new RadixRefinement(sorter, codes, options).argsort();

/** As much of a code from `begin` on as fits a word. */
export const wordSpan = (begin: number, bytes: number, maxBytes = WORD_BYTES): Span => ({
  begin,
  end: Math.min(begin + maxBytes, bytes),
});

/** Codes that are equal so far, those of a group side by side. */
interface Ties {
  /** Where they stand in the order, rising. */
  readonly places: Uint32Array;
  /** The number of the group of each, from 0 and rising. */
  readonly groups: Uint32Array;
}

/** One call. */
class RadixRefinement {
  readonly #sorter: Sorter;
  readonly #codes: Codes;
  readonly #begin: number;
  readonly #options: Omit<OrderingSortOptions, 'into'>;

  constructor(sorter: Sorter, codes: Codes, options: Omit<OrderingSortOptions, 'into'>) {
    this.#sorter = sorter;
    this.#codes = codes;
    this.#begin = codes.shared ?? 0;
    this.#options = options;
  }

  async argsort(): Promise<Uint32Array> {
    if (this.#codes.bytes - this.#begin <= WORD_BYTES) {
      return this.#sorter.argsort(await this.#words(this.#firstSpan), this.#options);
    }
    const { order, ties } = await this.#byFirstWords();
    await this.#breakTies(order, ties);
    return order;
  }

  get #firstSpan(): Span {
    return wordSpan(this.#begin, this.#codes.bytes);
  }

  /** The order by the first word of codes, and what it leaves undecided. */
  async #byFirstWords(): Promise<{ readonly order: Uint32Array; readonly ties: Ties }> {
    const words = await this.#words(this.#firstSpan);
    const positions = await this.#runSteps(fillSteps(words.length, (i) => i));
    const { keys, values } = await this.#sorter.sortPairs(words, positions, this.#options);
    return {
      order: values,
      ties: this.#dropFinished(await this.#runSteps(findTies(keys)), values, this.#firstSpan.end),
    };
  }

  /** Brings records whose first words are equal into order. */
  async #breakTies(order: Uint32Array, ties: Ties): Promise<void> {
    const { onReport: _, ...options } = this.#options; // what is reported is the sort of all
    let { places, groups } = ties;
    for (let begin = this.#begin + WORD_BYTES; places.length > 0 && begin < this.#codes.bytes; ) {
      const maxGroup = groups.at(-1) ?? 0;
      const maxBytes = Math.floor((64 - (32 - Math.clz32(maxGroup))) / 8);
      const span = wordSpan(begin, this.#codes.bytes, maxBytes);
      const at = await this.#runSteps(fillSteps(places.length, (i) => order[places[i] as number] as number));
      let words = await this.#words(span, at);
      if (maxGroup > 0)
        await this.#runSteps(addGroups(words, groups, Math.max(32, 8 * (span.end - span.begin))));
      if (!(await this.#runSteps(isSortedSteps(words)))) {
        const { keys, values } = await this.#sorter.sortPairs(words, at, options);
        words = keys;
        await this.#runSteps(scatterSteps(order, places, values));
      }
      ({ places, groups } = this.#dropFinished(
        await this.#runSteps(findTies(words, places)),
        order,
        span.end,
      ));
      begin = span.end;
    }
  }

  /** Ties without those whose codes have ended: of these nothing more is to be found out. */
  #dropFinished(ties: Ties, order: Uint32Array, end: number): Ties {
    const { isOver } = this.#codes;
    if (!isOver || ties.places.length === 0) return ties;
    let [n, group, last] = [0, -1, -1];
    for (let i = 0; i < ties.places.length; i++) {
      const place = ties.places[i] as number;
      if (isOver.call(this.#codes, order[place] as number, end)) continue;
      const old = ties.groups[i] as number;
      if (old !== last) group++;
      last = old;
      ties.places[n] = place;
      ties.groups[n++] = group;
    }
    return { places: ties.places.subarray(0, n), groups: ties.groups.subarray(0, n) };
  }

  /** The words of all codes, or of those at some positions. */
  async #words(span: Span, at?: Uint32Array): Promise<BigUint64Array> {
    const words = new BigUint64Array(at?.length ?? this.#codes.n);
    await this.#runSteps(this.#codes.fill(span, words, at));
    return words;
  }

  #runSteps<T>(steps: Steps<T>): Promise<T> {
    return runYielding(steps, this.#options.signal);
  }
}

/** `n` numbers. */
function* fillSteps(n: number, number: (i: number) => number): Steps<Uint32Array> {
  const numbers = new Uint32Array(n);
  yield* inSlices(n, (start, end) => {
    for (let i = start; i < end; i++) numbers[i] = number(i);
  });
  return numbers;
}

const wordsOf32 = (words: BigUint64Array): Uint32Array =>
  new Uint32Array(words.buffer, words.byteOffset, words.length * 2);

/** Puts the numbers of groups above the lowest `bits` of words, 32 at least. */
function* addGroups(words: BigUint64Array, groups: Uint32Array, bits: number): Steps {
  const parts = wordsOf32(words);
  yield* inSlices(groups.length, (start, end) => {
    for (let i = start; i < end; i++) {
      parts[2 * i + 1] = ((parts[2 * i + 1] as number) | ((groups[i] as number) << (bits - 32))) >>> 0;
    }
  });
}

/** Puts values to their places. */
function* scatterSteps(to: Uint32Array, places: Uint32Array, values: Uint32Array): Steps {
  yield* inSlices(places.length, (start, end) => {
    for (let i = start; i < end; i++) to[places[i] as number] = values[i] as number;
  });
}

function* isSortedSteps(words: BigUint64Array): Steps<boolean> {
  const parts = wordsOf32(words);
  let isSorted = true;
  yield* inSlices(words.length - 1, (start, end) => {
    for (let i = 2 * start; isSorted && i < 2 * end; i += 2) {
      const [low, high] = [parts[i] as number, parts[i + 1] as number];
      const [nextLow, nextHigh] = [parts[i + 2] as number, parts[i + 3] as number];
      isSorted = high < nextHigh || (high === nextHigh && low <= nextLow);
    }
  });
  return isSorted;
}

/**
 * Those of sorted words that have an equal neighbour.
 *
 * @param places where the words stand; by default as they come
 */
function* findTies(words: BigUint64Array, places?: Uint32Array): Steps<Ties> {
  const parts = wordsOf32(words);
  const n = words.length;
  /** Whether the word is that before it. */
  const equalsPrevious = (i: number): boolean =>
    i > 0 && i < n && parts[2 * i] === parts[2 * i - 2] && parts[2 * i + 1] === parts[2 * i - 1];
  let count = 0;
  yield* inSlices(n, (start, end) => {
    for (let i = start; i < end; i++) if (equalsPrevious(i) || equalsPrevious(i + 1)) count++;
  });
  const ties = { places: new Uint32Array(count), groups: new Uint32Array(count) };
  let [at, group] = [0, -1];
  if (count === 0) return ties;
  yield* inSlices(n, (start, end) => {
    for (let i = start; i < end; i++) {
      const continuesGroup = equalsPrevious(i);
      if (!continuesGroup && !equalsPrevious(i + 1)) continue;
      if (!continuesGroup) group++;
      ties.places[at] = places ? (places[i] as number) : i;
      ties.groups[at++] = group;
    }
  });
  return ties;
}
