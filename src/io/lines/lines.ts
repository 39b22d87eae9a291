/** The lines of a part of the input, and their order. */
import type { SorterOperations } from '../../sort/api/sorter-operations.js';
import { tableFunctions } from '../../sort/host/native-tables.js';
import type { Output } from '../streams/output.js';
import type { LineOrder } from './line-order.js';
import { numberAt, type Text } from './line-text.js';
import { LineWriter, OUTPUT_BYTES } from './line-writer.js';

/** The lines of one part, each with its terminator. */
export class Lines {
  readonly bytes: Buffer;
  /** Start of each line, and the end of the last one. */
  readonly starts: Uint32Array;
  readonly terminator: number;

  /** @param bytes complete lines: each ends with the terminator */
  constructor(bytes: Buffer, terminator: number) {
    this.bytes = bytes;
    this.terminator = terminator;
    this.starts = (tableFunctions()?.splitLines ?? splitLines)(bytes, terminator);
  }

  get count(): number {
    return this.starts.length - 1;
  }

  at(i: number): Text {
    return { bytes: this.bytes, begin: this.starts[i] as number, end: (this.starts[i + 1] as number) - 1 };
  }

  codes(order: LineOrder): Float64Array {
    const codes = new Float64Array(this.count);
    const { comparison } = order;
    const unread = (comparison && tableFunctions()?.lineCodes(this, comparison, codes)) ?? codes.keys();
    for (const i of unread) codes[i] = order.codeOf(this.at(i));
    return codes;
  }

  /** Returns the number of each line; undefined when a line is not a number. */
  numbers(): Float64Array | undefined {
    const numbers = new Float64Array(this.count);
    const native = tableFunctions();
    const unread = native ? native.lineCodes(this, 'whole', numbers) : numbers.keys();
    if (!unread) return undefined;
    for (const i of unread) {
      const number = numberAt(this.at(i), true, true);
      if (number === undefined) return undefined;
      numbers[i] = number;
    }
    return numbers;
  }

  /**
   * Sorts the lines by their codes, which are used up.
   *
   * @param isUnique whether only the first one of lines with equal keys is kept
   */
  async sorted(
    codes: Float64Array,
    order: LineOrder,
    isUnique: boolean,
    sorter: SorterOperations,
  ): Promise<SortedLines> {
    const { comparison, isReverse, isStable } = order;
    const all = new Uint32Array(codes.length);
    for (let i = 0; i < all.length; i++) all[i] = i;
    const nan = isReverse ? 'last' : 'first';
    const { keys, values } = await sorter.sortPairs(codes, all, { descending: isReverse, nan });
    const native = tableFunctions();
    const positions =
      native && comparison
        ? native.sortEqualLines(this, { comparison, isReverse, isStable, isUnique }, keys, values)
        : this.#sortEqual(keys, values, order, isUnique);
    return new SortedLines(this, positions);
  }

  /** Does what `sortEqualLines` of the addon does. */
  #sortEqual(codes: Float64Array, positions: Uint32Array, order: LineOrder, isUnique: boolean): Uint32Array {
    let kept = 0;
    for (let begin = 0, end: number; begin < codes.length; begin = end) {
      end = endOfEqual(codes, begin);
      const equal = positions.subarray(begin, end);
      if (equal.length > 1) equal.sort((a, b) => order.compare(this.at(a), this.at(b)));
      for (const i of equal) {
        const last = isUnique && kept > 0 ? this.at(positions[kept - 1] as number) : undefined;
        if (!last || order.compareKeys(last, this.at(i)) !== 0) positions[kept++] = i;
      }
    }
    return positions.subarray(0, kept);
  }
}

/** Lines that are gathered at a time, at most. */
const GATHERED_LINES = 2 ** 18;

/** The lines of one part, in order. */
class SortedLines {
  readonly #lines: Lines;
  readonly #positions: Uint32Array;

  constructor(lines: Lines, positions: Uint32Array) {
    this.#lines = lines;
    this.#positions = positions;
  }

  /** Yields the lines in order. */
  *[Symbol.iterator](): Generator<Text> {
    for (const i of this.#positions) yield this.#lines.at(i);
  }

  /** Writes the lines in order. */
  async write(out: Output): Promise<void> {
    const native = tableFunctions();
    if (!native) return this.#writeEach(out);
    const { bytes, starts } = this.#lines;
    const place = { maxStrings: GATHERED_LINES, full: OUTPUT_BYTES };
    for (let from = 0; from < this.#positions.length; ) {
      const to = Buffer.allocUnsafeSlow(OUTPUT_BYTES); // the output may still read the previous one
      const found = native.gatherStrings(
        [{ bytes, offsets: starts }],
        this.#positions,
        { ...place, from },
        to,
      );
      if (found.strings > 0) {
        await out.write(to.subarray(0, found.bytes));
        from += found.strings;
      } else {
        const i = this.#positions[from++] as number; // a line that is larger
        await out.write(bytes.subarray(starts[i], starts[i + 1]));
      }
    }
  }

  async #writeEach(out: Output): Promise<void> {
    const writer = new LineWriter(out, this.#lines.terminator);
    // An await for each line would take longer than the rest.
    for (const line of this) {
      const full = writer.add(line);
      if (full) await full;
    }
    await writer.flush();
  }
}

/** Returns the end of the codes that equal the one at `begin`. */
function endOfEqual(codes: Float64Array, begin: number): number {
  const code = codes[begin] as number;
  let end = begin + 1;
  // NaN equals nothing, also not itself.
  while (end < codes.length && (codes[end] === code || (Number.isNaN(code) && Number.isNaN(codes[end]))))
    end++;
  return end;
}

/** Does what `splitLines` of the addon does. */
function splitLines(bytes: Buffer, terminator: number): Uint32Array {
  let count = 0;
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === terminator) count++;
  const starts = new Uint32Array(count + 1);
  for (let i = 0, line = 0; i < bytes.length; i++) if (bytes[i] === terminator) starts[++line] = i + 1;
  return starts;
}
