import { elementsOf, type KeyWords, keyWords } from '../keys/array.js';
import { type Dtype, type DtypeInfo, dtypeInfo, infinityBits } from '../keys/dtype.js';
import { f16Value, keyValue } from '../keys/value.js';
import type { Lines } from './axis.js';
import type { KeyReader } from './formats/key-file.js';
import { OrderScan } from './order-scan.js';

/** What keys are like. */
export interface KeySurvey {
  readonly n: number;
  /** Smallest and largest number; undefined where there is none. */
  readonly minimum: number | bigint | undefined;
  readonly maximum: number | bigint | undefined;
  readonly nans: number;
  /** In which of the two orders of all bits, NaNs last, they stand: in both where all are equal. */
  readonly ascending: boolean;
  readonly descending: boolean;
}

/**
 * Goes through keys once, in memory for a few pieces.
 *
 * @param lines of a matrix: what is in order by itself
 */
export async function surveyKeys(reader: KeyReader, lines?: Lines): Promise<KeySurvey> {
  const { dtype } = reader;
  const info = dtypeInfo(dtype);
  const order = { dtype, bits: [0, info.width] } as const;
  const rising = new OrderScan(order, lines);
  const falling = new OrderScan({ ...order, descending: true }, lines);
  const extremes = new Extremes(dtype);
  for await (const piece of reader.pieces()) {
    rising.add(piece);
    falling.add(piece);
    extremes.add(keyWords(piece, info));
  }
  const { minimum, maximum, nans } = extremes;
  const [ascending, descending] = [!rising.descent, !falling.descent];
  return { n: rising.n, minimum, maximum, nans, ascending, descending };
}

/** The smallest and the largest of keys, and how many are none. */
class Extremes {
  nans = 0;
  readonly #info: DtypeInfo;
  readonly #infinity: number;
  #least: number | bigint | undefined;
  #most: number | bigint | undefined;

  constructor(dtype: Dtype) {
    this.#info = dtypeInfo(dtype);
    this.#infinity = Number(infinityBits(this.#info));
  }

  get minimum(): number | bigint | undefined {
    return this.#least;
  }

  get maximum(): number | bigint | undefined {
    return this.#most;
  }

  add(words: KeyWords): void {
    if (this.#info.width === 64 && this.#info.kind !== 'float') this.#addPairs(words);
    else if (this.#info.name === 'f16') this.#addHalves(words as Uint16Array);
    else this.#addNumbers(elementsOf(words, this.#info.name) as Float64Array); // typed arrays are indexed alike
  }

  #addNumbers(numbers: Float64Array): void {
    let least = Number.POSITIVE_INFINITY;
    let most = Number.NEGATIVE_INFINITY;
    let nans = 0;
    for (let i = 0; i < numbers.length; i++) {
      const number = numbers[i] as number;
      if (Number.isNaN(number)) nans++;
      if (number < least) least = number;
      if (number > most) most = number;
    }
    this.nans += nans;
    if (nans < numbers.length) this.#widen(Math.min(least, most), Math.max(least, most));
  }

  /** Bits of halves, made numbers that have the same order. */
  #addHalves(words: Uint16Array): void {
    let least = Number.POSITIVE_INFINITY;
    let most = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < words.length; i++) {
      const bits = words[i] as number;
      const magnitude = bits & 0x7fff;
      if (magnitude > this.#infinity) {
        this.nans++;
        continue;
      }
      const rank = bits & 0x8000 ? -magnitude : magnitude;
      if (rank < least) least = rank;
      if (rank > most) most = rank;
    }
    if (least > most) return;
    const value = (rank: number) => f16Value(rank < 0 ? -rank | 0x8000 : rank);
    this.#widen(value(least), value(most));
  }

  /** Integers of 64 bits by their words, the low one first. */
  #addPairs(words: KeyWords): void {
    const { buffer, byteOffset, length } = words;
    const low = new Uint32Array(buffer, byteOffset, 2 * length);
    const high = this.#info.kind === 'signed' ? new Int32Array(buffer, byteOffset, 2 * length) : low;
    let [least, most] = [0, 0];
    for (let i = 2; i < low.length; i += 2) {
      const [keyLow, keyHigh] = [low[i] as number, high[i + 1] as number];
      const leastHigh = high[least + 1] as number;
      const mostHigh = high[most + 1] as number;
      if (keyHigh < leastHigh || (keyHigh === leastHigh && keyLow < (low[least] as number))) least = i;
      if (keyHigh > mostHigh || (keyHigh === mostHigh && keyLow > (low[most] as number))) most = i;
    }
    const value = (at: number) => keyValue((words as BigUint64Array)[at / 2] as bigint, this.#info);
    if (words.length > 0) this.#widen(value(least), value(most));
  }

  #widen(least: number | bigint, most: number | bigint): void {
    if (this.#least === undefined || least < this.#least) this.#least = least;
    if (this.#most === undefined || most > this.#most) this.#most = most;
  }
}
