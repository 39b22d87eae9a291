/**
 * The order of records, made by sorts of 64-bit numbers.
 *
 * The first eight bytes of the codes (record-codes.ts) are sorted together with positions. Where that leaves records
 * equal, and their codes are longer, only those are sorted on: each gets a number made of its group, which are those it is
 * equal to so far, and of as many of the next bytes of its code as fit beside that, and all groups are sorted at once. So
 * random keys take one sort, whatever their length, and n records of codes of k bytes at most one and k / 4, of those that are
 * still equal. Bytes that leave all groups as they are, such as a prefix that all have, are looked at and not sorted.
 *
 * It is the refinement of groups of Larsson and Sadakane's suffix sorting ("Faster suffix sorting", 2007) with the
 * multikey idea of Bentley and Sedgewick ("Fast algorithms for sorting and searching strings", 1997), that what decided once
 * need not be looked at again. Sorting by the last word first (lexsort) would take a sort of all records for each word.
 */
import { assertDisjoint } from '../keys/array.js';
import type { Sorter } from '../sort/api/sorter.js';
import { atOnce, inSlices, inTurns, type Steps } from '../sort/host/steps.js';
import { InputError, UnsupportedError } from '../util/errors.js';
import { gatherUnits } from './gather-units.js';
import { RecordCodes, type Span, WORD_BYTES } from './record-codes.js';
import { type RecordLayout, recordKeys } from './record-keys.js';
import type { UnitOrder, UnitSortOptions } from './unit-order.js';

/** Records that 32-bit positions can tell apart. */
const MOST_RECORDS = 2 ** 32 - 1;

/** Bytes for each record where one sort is enough: a word and a position. */
const EXACT_BYTES = WORD_BYTES + 4;
/** Where it is not, and all are equal so far: the order, places and groups twice, words and positions twice. */
const MOST_BYTES = 4 + 2 * 8 + 2 * EXACT_BYTES;

/** The order of records, which can also say where each record belongs. */
export interface RecordOrder extends UnitOrder {
  /** Positions of the records in order, as `Sorter.argsort` gives those of keys. */
  positions(sorter: Sorter, bytes: Uint8Array, options?: Omit<UnitSortOptions, 'into'>): Promise<Uint32Array>;
}

/** @throws UsageError, DtypeError for an impossible layout */
export function recordOrder(layout: RecordLayout): RecordOrder {
  const { record } = layout;
  const codes = new RecordCodes(record, recordKeys(layout));
  const order: RecordOrder = {
    unit: record,
    units: `records of ${record} bytes`,
    exact: codes.bytes <= WORD_BYTES,
    sortBytes: record + (codes.bytes <= WORD_BYTES ? EXACT_BYTES : MOST_BYTES),
    prefix(piece) {
      const words = new BigUint64Array(piece.length / record);
      atOnce(codes.fill({ bytes: piece }, spanAt(0, codes.bytes), words));
      return words;
    },
    compare: (a, i, b, j) => codes.compare(a, i * record, b, j * record),
    async positions(sorter, bytes, options = {}) {
      assertRecords(bytes.length, record);
      return new Positions(sorter, codes, bytes, options).make();
    },
    async sort(sorter, bytes, { into, ...options } = {}) {
      if (into && into.length !== bytes.length) {
        throw new InputError(`into has ${into.length} bytes, and the records have ${bytes.length}`);
      }
      if (into) assertDisjoint(bytes, into, 'into and the records');
      const positions = await order.positions(sorter, bytes, options);
      const sorted = into ?? new Uint8Array(bytes.length);
      await inTurns(gatherUnits(bytes, record, positions, sorted), options.signal);
      return sorted;
    },
  };
  return order;
}

/** @throws InputError, UnsupportedError unless so many bytes are records that can be sorted */
export function assertRecords(bytes: number, record: number): void {
  if (bytes % record !== 0) {
    throw new InputError(
      `${bytes} bytes are no whole number of records of ${record} bytes: ${bytes % record} are too many`,
      { details: { bytes, record } },
    );
  }
  const n = bytes / record;
  if (n <= MOST_RECORDS) return;
  throw new UnsupportedError(`positions have 32 bits: at most 2^32 - 1 records in memory, not ${n}`, {
    details: { records: n, most: MOST_RECORDS },
  });
}

/** As much of a code from `begin` on as fits a word. */
const spanAt = (begin: number, bytes: number, room = WORD_BYTES): Span => ({
  begin,
  end: Math.min(begin + room, bytes),
});

/** Records that are equal so far, those of a group side by side. */
interface Ties {
  /** Where they stand in the order, rising. */
  readonly places: Uint32Array;
  /** The number of the group of each, from 0 and rising. */
  readonly groups: Uint32Array;
}

/** One call: the positions of records in order. */
class Positions {
  readonly #sorter: Sorter;
  readonly #codes: RecordCodes;
  readonly #bytes: Uint8Array;
  readonly #options: Omit<UnitSortOptions, 'into'>;

  constructor(sorter: Sorter, codes: RecordCodes, bytes: Uint8Array, options: Omit<UnitSortOptions, 'into'>) {
    this.#sorter = sorter;
    this.#codes = codes;
    this.#bytes = bytes;
    this.#options = options;
  }

  async make(): Promise<Uint32Array> {
    if (this.#codes.bytes <= WORD_BYTES) {
      return this.#sorter.argsort(await this.#words(spanAt(0, this.#codes.bytes)), this.#options);
    }
    const { order, ties } = await this.#byFirstWords();
    await this.#breakTies(order, ties);
    return order;
  }

  /** The order by the first word of codes, and what it leaves undecided. */
  async #byFirstWords(): Promise<{ readonly order: Uint32Array; readonly ties: Ties }> {
    const words = await this.#words(spanAt(0, this.#codes.bytes));
    const positions = await this.#inTurns(each(words.length, (i) => i));
    const { keys, values } = await this.#sorter.sortPairs(words, positions, this.#options);
    return { order: values, ties: await this.#inTurns(tiesOf(keys)) };
  }

  /** Brings records whose first words are equal into order. */
  async #breakTies(order: Uint32Array, ties: Ties): Promise<void> {
    const { onReport: _, ...options } = this.#options; // what is reported is the sort of all
    let { places, groups } = ties;
    for (let begin = WORD_BYTES; places.length > 0 && begin < this.#codes.bytes; ) {
      const most = groups.at(-1) ?? 0;
      const room = Math.floor((64 - (32 - Math.clz32(most))) / 8);
      const span = spanAt(begin, this.#codes.bytes, room);
      const at = await this.#inTurns(each(places.length, (i) => order[places[i] as number] as number));
      let words = await this.#words(span, at);
      if (most > 0) await this.#inTurns(addGroups(words, groups, Math.max(32, 8 * (span.end - span.begin))));
      if (!(await this.#inTurns(isRising(words)))) {
        const { keys, values } = await this.#sorter.sortPairs(words, at, options);
        words = keys;
        await this.#inTurns(putAt(order, places, values));
      }
      ({ places, groups } = await this.#inTurns(tiesOf(words, places)));
      begin = span.end;
    }
  }

  /** The words of all records, or of those at some positions. */
  async #words(span: Span, at?: Uint32Array): Promise<BigUint64Array> {
    const words = new BigUint64Array(at?.length ?? this.#bytes.length / this.#codes.record);
    await this.#inTurns(this.#codes.fill({ bytes: this.#bytes, at }, span, words));
    return words;
  }

  #inTurns<T>(steps: Steps<T>): Promise<T> {
    return inTurns(steps, this.#options.signal);
  }
}

/** `n` numbers. */
function* each(n: number, number: (i: number) => number): Steps<Uint32Array> {
  const numbers = new Uint32Array(n);
  yield* inSlices(n, (start, end) => {
    for (let i = start; i < end; i++) numbers[i] = number(i);
  });
  return numbers;
}

const halves = (words: BigUint64Array): Uint32Array =>
  new Uint32Array(words.buffer, words.byteOffset, words.length * 2);

/** Puts the numbers of groups above the lowest `bits` of words, 32 at least. */
function* addGroups(words: BigUint64Array, groups: Uint32Array, bits: number): Steps {
  const parts = halves(words);
  yield* inSlices(groups.length, (start, end) => {
    for (let i = start; i < end; i++) {
      parts[2 * i + 1] = ((parts[2 * i + 1] as number) | ((groups[i] as number) << (bits - 32))) >>> 0;
    }
  });
}

/** Puts values to their places. */
function* putAt(to: Uint32Array, places: Uint32Array, values: Uint32Array): Steps {
  yield* inSlices(places.length, (start, end) => {
    for (let i = start; i < end; i++) to[places[i] as number] = values[i] as number;
  });
}

function* isRising(words: BigUint64Array): Steps<boolean> {
  const parts = halves(words);
  let rises = true;
  yield* inSlices(words.length - 1, (start, end) => {
    for (let i = 2 * start; rises && i < 2 * end; i += 2) {
      const [low, high] = [parts[i] as number, parts[i + 1] as number];
      const [nextLow, nextHigh] = [parts[i + 2] as number, parts[i + 3] as number];
      rises = high < nextHigh || (high === nextHigh && low <= nextLow);
    }
  });
  return rises;
}

/**
 * Those of sorted words that have an equal neighbour.
 *
 * @param places where the words stand; by default as they come
 */
function* tiesOf(words: BigUint64Array, places?: Uint32Array): Steps<Ties> {
  const parts = halves(words);
  const n = words.length;
  /** Whether the word is that before it. */
  const isLike = (i: number): boolean =>
    i > 0 && i < n && parts[2 * i] === parts[2 * i - 2] && parts[2 * i + 1] === parts[2 * i - 1];
  let count = 0;
  yield* inSlices(n, (start, end) => {
    for (let i = start; i < end; i++) if (isLike(i) || isLike(i + 1)) count++;
  });
  const ties = { places: new Uint32Array(count), groups: new Uint32Array(count) };
  let [at, group] = [0, -1];
  if (count === 0) return ties;
  yield* inSlices(n, (start, end) => {
    for (let i = start; i < end; i++) {
      const goesOn = isLike(i);
      if (!goesOn && !isLike(i + 1)) continue;
      if (!goesOn) group++;
      ties.places[at] = places ? (places[i] as number) : i;
      ties.groups[at++] = group;
    }
  });
  return ties;
}
