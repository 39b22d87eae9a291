import { dtypeInfo } from '../../keys/dtype.js';
import type { Column } from '../backend/column.js';

/** Where rows of one length begin, and at last where they end: words that are made when somebody reads them. */
export class RowOffsets implements Column {
  readonly dtype = 'u32';
  readonly info = dtypeInfo('u32');
  readonly n: number;
  readonly #rowLength: number;
  #words: Uint32Array | undefined;

  /**
   * @param rowLength keys of a row
   * @param words where they begin, if somebody has made that already
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
