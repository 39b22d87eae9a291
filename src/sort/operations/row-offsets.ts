import { dtypeInfo } from '../../keys/dtype.js';
import type { Column } from '../model/column.js';

/**
 * Offsets of rows of equal length: the start of each row, then the end of the last one. They are computed on first
 * access.
 */
export class RowOffsets implements Column {
  readonly dtype = 'u32';
  readonly info = dtypeInfo('u32');
  readonly n: number;
  readonly #rowLength: number;
  #words: Uint32Array | undefined;

  /**
   * @param rows number of rows
   * @param rowLength keys of a row
   * @param words the offsets, if they exist already
   */
  constructor(rows: number, rowLength: number, words?: Uint32Array) {
    this.n = rows + 1;
    this.#rowLength = rowLength;
    this.#words = words;
  }

  get place(): Uint32Array {
    if (this.#words) return this.#words;
    const words = new Uint32Array(this.n);
    for (let i = 0; i < words.length; i++) words[i] = i * this.#rowLength;
    this.#words = words;
    return words;
  }
}
