/** The lines of a part of the input, and their order. */
import type { SorterOperations } from '../../sort/api/sorter-operations.js';
import type { LineOrder } from './line-order.js';
import { numberAt, type Text } from './line-text.js';
import type { LineWriter } from './line-writer.js';

/** The lines of one part. */
export class Lines {
  readonly #bytes: Buffer;
  /** Begin and end of each line. */
  readonly #spans: Uint32Array<ArrayBuffer>;
  readonly count: number;

  constructor(bytes: Buffer, terminator: number) {
    let spans = new Uint32Array(2 ** 10);
    let count = 0;
    let begin = 0;
    for (let i = 0; i < bytes.length; i++) {
      if (bytes[i] !== terminator) continue;
      if (2 * count === spans.length) {
        const larger = new Uint32Array(2 * spans.length);
        larger.set(spans);
        spans = larger;
      }
      spans[2 * count] = begin;
      spans[2 * count + 1] = i;
      count++;
      begin = i + 1;
    }
    this.#bytes = bytes;
    this.#spans = spans.slice(0, 2 * count);
    this.count = count;
  }

  at(i: number): Text {
    return {
      bytes: this.#bytes,
      begin: this.#spans[2 * i] as number,
      end: this.#spans[2 * i + 1] as number,
    };
  }

  /** Returns the code of each line by an order. */
  codes(order: LineOrder): Float64Array {
    const codes = new Float64Array(this.count);
    for (let i = 0; i < this.count; i++) codes[i] = order.codeOf(this.at(i));
    return codes;
  }

  /** Returns the number of each line; undefined when a line is no number. */
  numbers(): Float64Array | undefined {
    const numbers = new Float64Array(this.count);
    const [bytes, spans] = [this.#bytes, this.#spans];
    for (let i = 0; i < this.count; i++) {
      const number =
        shortDecimal(bytes, spans[2 * i] as number, spans[2 * i + 1] as number) ??
        numberAt(this.at(i), true, true);
      if (number === undefined) return undefined;
      numbers[i] = number;
    }
    return numbers;
  }

  /** Sorts the lines by their codes. The codes and the positions of the lines are used up. */
  async sorted(codes: Float64Array, order: LineOrder, sorter: SorterOperations): Promise<SortedLines> {
    const descending = order.isReverse;
    // Begins and ends travel with the codes: looking them up afterwards would miss the processor's cache.
    const spans = new BigUint64Array(this.#spans.buffer);
    const nan = descending ? 'last' : 'first';
    const { keys, values } = await sorter.sortPairs(codes, spans, { descending, nan });
    return new SortedLines(
      this.#bytes,
      keys,
      new Uint32Array(values.buffer, values.byteOffset, 2 * this.count),
      order,
    );
  }
}

/** Lines that are read ahead: they fit the first cache of a processor. */
const TOUCHED = 128;

/** The lines of one part, by their codes; those with equal codes are compared when they are visited. */
class SortedLines {
  readonly #bytes: Buffer;
  readonly #codes: Float64Array;
  readonly #spans: Uint32Array;
  readonly #order: LineOrder;
  #sum = 0;

  constructor(bytes: Buffer, codes: Float64Array, spans: Uint32Array, order: LineOrder) {
    this.#bytes = bytes;
    this.#codes = codes;
    this.#spans = spans;
    this.#order = order;
  }

  #at(i: number): Text {
    return { bytes: this.#bytes, begin: this.#spans[2 * i] as number, end: this.#spans[2 * i + 1] as number };
  }

  /** Yields the lines in order. */
  *[Symbol.iterator](): Generator<Text> {
    for (let begin = 0; begin < this.#codes.length; ) {
      const end = this.#endOfEqual(begin);
      if (end === begin + 1) yield this.#at(begin);
      else yield* this.#equal(begin, end);
      begin = end;
    }
  }

  /** Writes the lines in order, without an object for each. */
  async write(writer: LineWriter): Promise<void> {
    const [bytes, spans, codes] = [this.#bytes, this.#spans, this.#codes];
    let touched = 0;
    for (let begin = 0; begin < codes.length; ) {
      if (begin >= touched) touched = this.#touch(begin);
      // Mostly a code differs from the next one. NaN never equals itself, so it is looked at more closely.
      const code = codes[begin] as number;
      if (code < (codes[begin + 1] as number) || code > (codes[begin + 1] as number)) {
        const isCopied = writer.copy(bytes, spans[2 * begin] as number, spans[2 * begin + 1] as number);
        if (!isCopied) await writer.add(this.#at(begin));
        begin++;
        continue;
      }
      const end = this.#endOfEqual(begin);
      for (const line of this.#equal(begin, end)) await writer.add(line);
      begin = end;
    }
    await writer.flush();
  }

  /**
   * Reads a byte of each of the next lines: the processor fetches them at the same time, and later copies them without
   * waiting for memory.
   *
   * @returns the position after these lines
   */
  #touch(begin: number): number {
    const [bytes, spans] = [this.#bytes, this.#spans];
    const end = Math.min(begin + TOUCHED, this.#codes.length);
    let sum = 0;
    for (let i = begin; i < end; i++) sum += bytes[spans[2 * i] as number] as number;
    this.#sum = (this.#sum + sum) & 0xff; // the reads must not be optimised away
    return end;
  }

  #endOfEqual(begin: number): number {
    const codes = this.#codes;
    const code = codes[begin] as number;
    let end = begin + 1;
    // NaN is no number in either order.
    while (end < codes.length && (codes[end] === code || (Number.isNaN(code) && Number.isNaN(codes[end]))))
      end++;
    return end;
  }

  #equal(begin: number, end: number): Text[] {
    const lines = Array.from({ length: end - begin }, (_, i) => this.#at(begin + i));
    return lines.sort((a, b) => this.#order.compare(a, b));
  }
}

/** Parses a decimal of up to 15 digits and nothing else; undefined for everything else. */
function shortDecimal(bytes: Uint8Array, begin: number, end: number): number | undefined {
  const isNegative = bytes[begin] === 0x2d;
  let mantissa = 0;
  let digits = 0;
  let point = end;
  for (let at = isNegative ? begin + 1 : begin; at < end; at++) {
    const digit = (bytes[at] as number) - 0x30;
    if (digit >= 0 && digit <= 9) {
      mantissa = mantissa * 10 + digit;
      digits++;
    } else if (digit === -2 && point === end) point = at;
    else return undefined;
  }
  if (digits === 0 || digits > 15 || mantissa === 0) return undefined;
  const value = point === end ? mantissa : mantissa / (POWERS[end - point - 1] as number);
  return isNegative ? -value : value;
}

const POWERS = Array.from({ length: 16 }, (_, i) => 10 ** i);
