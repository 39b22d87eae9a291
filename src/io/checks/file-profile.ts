import { elementsOf, type KeyWords, keyWords } from '../../keys/array.js';
import { type Dtype, type DtypeInfo, dtypeInfo, infinityBits, isHalf } from '../../keys/dtype.js';
import { halfDecoder, keyValue } from '../../keys/value.js';
import type { Lines } from '../formats/axis.js';
import type { KeyReader } from '../formats/key-file.js';
import { type Descent, OrderScan } from './order-scan.js';

/** Properties of the keys of a file. */
export interface FileProfile {
  readonly n: number;
  /** Smallest and largest number; undefined when there is none. */
  readonly minimum: number | bigint | undefined;
  readonly maximum: number | bigint | undefined;
  readonly nans: number;
  /** Whether keys are in total order of their bits, NaNs last; both fields are true when all keys are equal. */
  readonly ascending: boolean;
  readonly descending: boolean;
  /** The first key that makes the keys neither ascending nor descending; undefined when they are sorted. */
  readonly disorder: Descent | undefined;
}

/**
 * Computes the profile of keys in one pass. Holds a few pieces in memory.
 *
 * @param reader source of the keys
 * @param lines for a matrix: the rows or columns that are sorted independently
 */
export async function profileKeys(reader: KeyReader, lines?: Lines): Promise<FileProfile> {
  const scan = new ProfileScan(reader.dtype, lines);
  for await (const piece of reader.pieces()) scan.add(piece);
  return scan.profile;
}

/** Computes the profile of keys that arrive in pieces. */
export class ProfileScan {
  readonly #info: DtypeInfo;
  readonly #ascending: OrderScan;
  readonly #descending: OrderScan;
  readonly #extremes: KeyExtremes;

  /**
   * @param dtype dtype of the keys
   * @param lines for a matrix: the rows or columns that are sorted independently
   */
  constructor(dtype: Dtype, lines?: Lines) {
    this.#info = dtypeInfo(dtype);
    const order = { dtype, bits: [0, this.#info.width] } as const;
    this.#ascending = new OrderScan(order, lines);
    this.#descending = new OrderScan({ ...order, descending: true }, lines);
    this.#extremes = new KeyExtremes(dtype);
  }

  /** Adds the next keys, as little-endian bytes. */
  add(piece: Uint8Array): void {
    this.#ascending.add(piece);
    this.#descending.add(piece);
    this.#extremes.add(keyWords(piece, this.#info));
  }

  get profile(): FileProfile {
    const { minimum, maximum, nans } = this.#extremes;
    const [rise, fall] = [this.#descending.descent, this.#ascending.descent];
    const disorder = rise && fall && (rise.at > fall.at ? rise : fall);
    return {
      ...{ n: this.#ascending.n, minimum, maximum, nans },
      ...{ ascending: !fall, descending: !rise, disorder },
    };
  }
}

/** The smallest and the largest key, and the number of NaNs. */
class KeyExtremes {
  nans = 0;
  readonly #info: DtypeInfo;
  readonly #infinity: number;
  #min: number | bigint | undefined;
  #max: number | bigint | undefined;

  constructor(dtype: Dtype) {
    this.#info = dtypeInfo(dtype);
    this.#infinity = Number(infinityBits(this.#info));
  }

  get minimum(): number | bigint | undefined {
    return this.#min;
  }

  get maximum(): number | bigint | undefined {
    return this.#max;
  }

  add(words: KeyWords): void {
    if (this.#info.width === 64 && this.#info.kind !== 'float') this.#addPairs(words);
    else if (isHalf(this.#info)) this.#addHalves(words as Uint16Array);
    else this.#addNumbers(elementsOf(words, this.#info.name) as Float64Array); // all typed arrays are indexed alike
  }

  #addNumbers(numbers: Float64Array): void {
    let min = Number.POSITIVE_INFINITY;
    let max = Number.NEGATIVE_INFINITY;
    let nans = 0;
    for (let i = 0; i < numbers.length; i++) {
      const number = numbers[i] as number;
      if (Number.isNaN(number)) nans++;
      if (number < min) min = number;
      if (number > max) max = number;
    }
    this.nans += nans;
    if (nans < numbers.length) this.#widen(Math.min(min, max), Math.max(min, max));
  }

  /** Compares floats of 16 bits by sign and magnitude, without decoding them. */
  #addHalves(words: Uint16Array): void {
    let min = Number.POSITIVE_INFINITY;
    let max = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < words.length; i++) {
      const bits = words[i] as number;
      const magnitude = bits & 0x7fff;
      if (magnitude > this.#infinity) {
        this.nans++;
        continue;
      }
      const rank = bits & 0x8000 ? -magnitude : magnitude;
      if (rank < min) min = rank;
      if (rank > max) max = rank;
    }
    if (min > max) return;
    const decode = halfDecoder(this.#info);
    const value = (rank: number) => decode(rank < 0 ? -rank | 0x8000 : rank);
    this.#widen(value(min), value(max));
  }

  /** Compares 64-bit integers by their words, the low one first. */
  #addPairs(words: KeyWords): void {
    const { buffer, byteOffset, length } = words;
    const low = new Uint32Array(buffer, byteOffset, 2 * length);
    const high = this.#info.kind === 'signed' ? new Int32Array(buffer, byteOffset, 2 * length) : low;
    let [min, max] = [0, 0];
    for (let i = 2; i < low.length; i += 2) {
      const [keyLow, keyHigh] = [low[i] as number, high[i + 1] as number];
      const minHigh = high[min + 1] as number;
      const maxHigh = high[max + 1] as number;
      if (keyHigh < minHigh || (keyHigh === minHigh && keyLow < (low[min] as number))) min = i;
      if (keyHigh > maxHigh || (keyHigh === maxHigh && keyLow > (low[max] as number))) max = i;
    }
    const value = (at: number) => keyValue((words as BigUint64Array)[at / 2] as bigint, this.#info);
    if (words.length > 0) this.#widen(value(min), value(max));
  }

  #widen(min: number | bigint, max: number | bigint): void {
    if (this.#min === undefined || min < this.#min) this.#min = min;
    if (this.#max === undefined || max > this.#max) this.#max = max;
  }
}
