import { copyBytes, MAX_SHORT } from '../../../util/copy-bytes.js';
import { tableFunctions } from '../../host/native-tables.js';
import { inSlices, runSync, type Steps } from '../../host/steps.js';
import { BLOCK_STRINGS, STEP_STRINGS } from '../policy.js';
import { type Codes, type Span, WORD_BYTES } from './code-order.js';

/** The concatenated strings of one batch. */
interface StringBatch {
  /** Index of the first string. */
  readonly first: number;
  /** Start of each string in `bytes`, and the end of the last one. */
  readonly offsets: Uint32Array;
  readonly bytes: Uint8Array;
}

/** Returns the numbers from `first` to `end` - 1. */
function range(first: number, end: number): Uint32Array {
  const numbers = new Uint32Array(end - first);
  for (let i = 0; i < numbers.length; i++) numbers[i] = first + i;
  return numbers;
}

/** A large list of byte strings, stored without copying. As codes they must be prefix-free. */
export class ByteStrings implements Codes {
  readonly #pieces: StringBatch[] = [];
  /** The piece of the first string of each block of BLOCK_STRINGS strings. */
  readonly #blocks: number[] = [];
  /** Number of strings. */
  n = 0;
  /** Length of the longest string in bytes. */
  bytes = 0;
  /** Length of the shortest string in bytes. */
  #shortest = Number.POSITIVE_INFINITY;
  /** Places before the end of the shortest string whose byte is the same in all strings; undefined until needed. */
  #constant: readonly number[] | undefined;

  /** @param lengths  u32, little-endian, of any alignment */
  add(lengths: Uint8Array, bytes: Uint8Array): void {
    const sizes = new Uint32Array(lengths.slice().buffer);
    const offsets = new Uint32Array(sizes.length + 1);
    for (let i = 0; i < sizes.length; i++) offsets[i + 1] = (offsets[i] as number) + (sizes[i] as number);
    if (offsets.at(-1) !== bytes.length)
      throw new RangeError(
        `cannot read a batch: it has ${bytes.length} bytes, and declares ${offsets.at(-1)}`,
      );
    this.addBatch(offsets, bytes);
  }

  /**
   * Adds the strings between offsets in `bytes`.
   *
   * @param offsets start of each string, and the end of the last one; ascending
   */
  addBatch(offsets: Uint32Array, bytes: Uint8Array): void {
    const n = offsets.length - 1;
    if (n <= 0) return;
    for (let i = 0; i < n; i++) {
      const size = (offsets[i + 1] as number) - (offsets[i] as number);
      if (size > this.bytes) this.bytes = size;
      if (size < this.#shortest) this.#shortest = size;
    }
    const piece = { first: this.n, offsets, bytes };
    const index = this.#pieces.push(piece) - 1;
    this.n += n;
    this.#constant = undefined;
    while (this.#blocks.length * BLOCK_STRINGS < this.n) this.#blocks.push(index);
  }

  *#findConstant(): Steps<readonly number[]> {
    if (this.#constant || this.n === 0) return this.#constant ?? [];
    const first = this.at(0);
    let places = [...first.subarray(0, this.#shortest).keys()];
    for (const { offsets, bytes } of this.#pieces) {
      places = places.filter((place) => {
        let i = 0;
        while (i < offsets.length - 1 && bytes[(offsets[i] as number) + place] === first[place]) i++;
        return i === offsets.length - 1;
      });
      yield;
    }
    this.#constant = places;
    return places;
  }

  /** Length of the common prefix of all strings in bytes. */
  get shared(): number {
    const constant = runSync(this.#findConstant());
    let shared = 0;
    while (constant[shared] === shared) shared++;
    return shared;
  }

  /** Returns codes in the order of the strings, without the bytes that all strings share. */
  *significant(): Steps<Codes> {
    const constant = new Set(yield* this.#findConstant());
    const kept = range(0, Math.min(this.#shortest, this.bytes)).filter((place) => !constant.has(place));
    const placeOf = (i: number): number => kept[i] ?? i + constant.size;
    return {
      n: this.n,
      bytes: this.bytes - constant.size,
      fill: ({ begin, end }, words, at) => this.#fillPlaces(range(begin, end).map(placeOf), words, at),
      isOver: (i, end) => this.isOver(i, placeOf(end)),
    };
  }

  #pieceOf(i: number): StringBatch {
    let index = this.#blocks[Math.floor(i / BLOCK_STRINGS)] as number;
    let piece = this.#pieces[index] as StringBatch;
    while (i >= piece.first + piece.offsets.length - 1) piece = this.#pieces[++index] as StringBatch;
    return piece;
  }

  /** Copies string `i` to `to` at `at`, and returns its end there. */
  copy(i: number, to: Uint8Array, at: number): number {
    const { first, offsets, bytes } = this.#pieceOf(i);
    return copyBytes(bytes, offsets[i - first] as number, offsets[i - first + 1] as number, to, at);
  }

  /** Returns a view of string `i`. */
  at(i: number): Uint8Array {
    const { first, offsets, bytes } = this.#pieceOf(i);
    return bytes.subarray(offsets[i - first], offsets[i - first + 1]);
  }

  /**
   * Returns a negative number, 0 or a positive number if string `i` is less than, equal to or greater than string `j`.
   */
  compare(i: number, j: number): number {
    return Buffer.compare(this.at(i), this.at(j));
  }

  equal(i: number, j: number): boolean {
    const [one, other] = [this.#pieceOf(i), this.#pieceOf(j)];
    const [begin, from] = [one.offsets[i - one.first] as number, other.offsets[j - other.first] as number];
    const size = (one.offsets[i - one.first + 1] as number) - begin;
    if (size !== (other.offsets[j - other.first + 1] as number) - from) return false;
    if (size > MAX_SHORT) return this.compare(i, j) === 0;
    for (let k = 0; k < size; k++) if (one.bytes[begin + k] !== other.bytes[from + k]) return false;
    return true;
  }

  length(i: number): number {
    const { first, offsets } = this.#pieceOf(i);
    return (offsets[i - first + 1] as number) - (offsets[i - first] as number);
  }

  isOver(i: number, end: number): boolean {
    return this.#shortest < end && this.length(i) < end;
  }

  /**
   * Copies strings at `positions` to `to`, until it holds `full` bytes or its end is reached, in the addon.
   *
   * @param from  first position to copy
   * @returns undefined if no addon is loaded
   */
  gather(
    positions: Uint32Array,
    place: { readonly from: number; readonly maxStrings: number; readonly full: number },
    to: Uint8Array,
  ): { readonly strings: number; readonly bytes: number } | undefined {
    return tableFunctions()?.gatherStrings(this.#pieces, positions, place, to);
  }

  fill({ begin, end }: Span, words: BigUint64Array, at?: Uint32Array): Steps {
    return this.#fillPlaces(range(begin, end), words, at);
  }

  /** Writes the bytes of each string at `places` as a number. */
  *#fillPlaces(places: Uint32Array, words: BigUint64Array, at?: Uint32Array): Steps {
    const native = tableFunctions();
    const out = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
    const inNative = (start: number, stop: number): void => {
      const positions = at?.subarray(start, stop) ?? range(start, stop);
      native?.stringWords(this.#pieces, positions, places, words.subarray(start, stop));
    };
    const inJavaScript = (start: number, stop: number): void => {
      for (let i = start; i < stop; i++) {
        const index = at ? (at[i] as number) : i;
        const { first, offsets, bytes } = this.#pieceOf(index);
        const from = offsets[index - first] as number;
        const size = (offsets[index - first + 1] as number) - from;
        // Words are little-endian: the byte at the last place is the lowest.
        let to = i * WORD_BYTES + places.length - 1;
        for (let k = 0; k < places.length; k++, to--) {
          const place = places[k] as number;
          if (place < size) out[to] = bytes[from + place] as number;
        }
      }
    };
    yield* native ? inSlices(words.length, inNative, STEP_STRINGS) : inSlices(words.length, inJavaScript);
  }
}

/** Returns the codes at the indices `rows`, in that order. */
export const selectCodes = (codes: Codes, rows: Uint32Array): Codes => ({
  n: rows.length,
  bytes: codes.bytes,
  shared: codes.shared ?? 0,
  fill: (span, words, at) => codes.fill(span, words, at ? at.map((i) => rows[i] as number) : rows),
  isOver: (i, end) => codes.isOver?.(rows[i] as number, end) ?? end >= codes.bytes,
});
