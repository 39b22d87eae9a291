/**
 * Orders byte strings by sorting 64-bit numbers.
 *
 * The first eight bytes of each code are sorted together with positions. Only codes that are still tied and longer are
 * sorted further. Each tied code gets a number: its tie group, followed by as many of its next bytes as fit. All groups
 * are then sorted in one call. Random keys thus take one sort, whatever their length. Codes of k bytes take at most 1 +
 * k / 4 sorts, all but the first of ties only. Bytes that leave every group in order, such as a common prefix, cost a
 * check but no sort.
 *
 * This is the group refinement of Larsson and Sadakane ("Faster suffix sorting", 2007) with the multikey idea of
 * Bentley and Sedgewick ("Fast algorithms for sorting and searching strings", 1997): decided codes are not examined
 * again. Sorting by the last word first (lexsort) would sort all codes once per word.
 */
import { inSlices, runYielding, type Steps } from '../../host/steps.js';
import type { SortOptions } from '../../model/options.js';
import type { OperationMethods } from '../operations.js';

/** The methods of a Sorter that order codes. */
export type CodeSorter = Pick<OperationMethods, 'argsort' | 'sortPairs'>;

/** Options of the sorts of codes, which define the order. */
export type CodeSortOptions = Omit<SortOptions, 'dtype' | 'descending' | 'nan' | 'bitRange' | 'device'>;

/** Bytes of a word, the part of a code that is compared as one number. */
export const WORD_BYTES = 8;

/** A range of bytes in a code. */
export interface Span {
  readonly begin: number;
  /** At most `begin + WORD_BYTES`. */
  readonly end: number;
}

/** Byte strings to order as unsigned bytes (memcmp); shorter strings count as padded with zeros. */
export interface Codes {
  readonly n: number;
  /** Length of the longest code in bytes. */
  readonly bytes: number;
  /** Length in bytes of the prefix that all codes share; default 0. */
  readonly shared?: number;
  /**
   * Writes bytes `begin` to `end` of each code, as a number, into zeroed words.
   *
   * @param span the range of bytes
   * @param words output, one word per code
   * @param at indices of the codes; default all codes in order
   */
  fill(span: Span, words: BigUint64Array, at?: Uint32Array): Steps;
  /**
   * Whether no code that is tied with this one up to byte `end` has bytes from there on: codes that are over are equal
   * then. Default: decided by `bytes`.
   */
  isOver?(code: number, end: number): boolean;
}

/** Returns the positions of codes in sorted order, as `Sorter.argsort` does for keys. */
export const argsortCodes = (
  sorter: CodeSorter,
  codes: Codes,
  options: CodeSortOptions,
): Promise<Uint32Array> => new RadixRefinement(sorter, codes, options).argsort();

/** Returns the span from `begin` on that fits a word of `maxBytes` bytes, cut at the code length `bytes`. */
export const wordSpan = (begin: number, bytes: number, maxBytes = WORD_BYTES): Span => ({
  begin,
  end: Math.min(begin + maxBytes, bytes),
});

/** Codes that are tied so far; the codes of a group are adjacent. */
interface Ties {
  /** Their places in the order, ascending. */
  readonly places: Uint32Array;
  /** The group number of each code, ascending from 0. */
  readonly groups: Uint32Array;
}

/** The state of one call. */
class RadixRefinement {
  readonly #sorter: CodeSorter;
  readonly #codes: Codes;
  readonly #begin: number;
  readonly #options: CodeSortOptions;

  constructor(sorter: CodeSorter, codes: Codes, options: CodeSortOptions) {
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

  /** Orders codes by their first word and returns the remaining ties. */
  async #byFirstWords(): Promise<{ readonly order: Uint32Array; readonly ties: Ties }> {
    const words = await this.#words(this.#firstSpan);
    const positions = await this.#runSteps(fillSteps(words.length, (i) => i));
    const { keys, values } = await this.#sorter.sortPairs(words, positions, this.#options);
    return {
      order: values,
      ties: this.#dropFinished(await this.#runSteps(findTies(keys)), values, this.#firstSpan.end),
    };
  }

  /** Orders codes whose first words are equal. */
  async #breakTies(order: Uint32Array, ties: Ties): Promise<void> {
    const { onReport: _, ...options } = this.#options; // only the sort of all codes is reported
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

  /** Removes ties between codes that have ended, since these are equal. */
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

  /** Returns the words of all codes, or of those at `at`. */
  async #words(span: Span, at?: Uint32Array): Promise<BigUint64Array> {
    const words = new BigUint64Array(at?.length ?? this.#codes.n);
    await this.#runSteps(this.#codes.fill(span, words, at));
    return words;
  }

  #runSteps<T>(steps: Steps<T>): Promise<T> {
    return runYielding(steps, this.#options.signal);
  }
}

function* fillSteps(n: number, number: (i: number) => number): Steps<Uint32Array> {
  const numbers = new Uint32Array(n);
  yield* inSlices(n, (start, end) => {
    for (let i = start; i < end; i++) numbers[i] = number(i);
  });
  return numbers;
}

const wordsOf32 = (words: BigUint64Array): Uint32Array =>
  new Uint32Array(words.buffer, words.byteOffset, words.length * 2);

/** Stores group numbers above the lowest `bits` bits of words; `bits` is 32 or more. */
function* addGroups(words: BigUint64Array, groups: Uint32Array, bits: number): Steps {
  const parts = wordsOf32(words);
  yield* inSlices(groups.length, (start, end) => {
    for (let i = start; i < end; i++) {
      parts[2 * i + 1] = ((parts[2 * i + 1] as number) | ((groups[i] as number) << (bits - 32))) >>> 0;
    }
  });
}

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
 * Returns the sorted words that equal a neighbour.
 *
 * @param words sorted words
 * @param places places of the words in the order; default their indices
 */
function* findTies(words: BigUint64Array, places?: Uint32Array): Steps<Ties> {
  const parts = wordsOf32(words);
  const n = words.length;
  /** Whether word `i` equals word `i - 1`. */
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
