/** Columns that hold places in a dictionary. Runs in the child. */

import type { KeyWords } from '../../../keys/array.js';
import type { Dtype } from '../../../keys/dtype.js';
import { dtypeInfo } from '../../../keys/dtype.js';
import { ArrowColumn } from './arrow-column.js';
import { type Body, type DictionaryHeader, damagedFile } from './arrow-file.js';

const WORDS = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: BigUint64Array } as const;

/** Numbers of some dtype, by their places. */
export class ArrowDictionary {
  readonly #dtype: Dtype;
  #values: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  #bytes = 0;

  constructor(dtype: Dtype) {
    this.#dtype = dtype;
  }

  /** Takes a batch of the dictionary: more values, or others. */
  take({ data, isDelta }: DictionaryHeader, body: Body): void {
    const { bytes: width } = dtypeInfo(this.#dtype);
    const column = new ArrowColumn(data, body, { node: 0, buffer: 0 }, width);
    if (column.validity(0, column.rows).length > 0) throw damagedFile('a dictionary with nulls in it');
    const values = column.values(0, column.rows);
    const begin = isDelta ? this.#bytes : 0;
    this.#bytes = begin + values.length;
    if (this.#bytes > this.#values.length) {
      const grown = new Uint8Array(Math.max(this.#bytes, isDelta ? 2 * this.#values.length : 0));
      grown.set(this.#values.subarray(0, begin));
      this.#values = grown;
    }
    this.#values.set(values, begin);
  }

  /**
   * The values at places.
   *
   * @param indices  unsigned, of the width that `indexBytes` says: negative ones are beyond any dictionary
   * @param validity  bits of the places that mean something; empty when all do
   * @throws FormatError for a place that the dictionary has not
   */
  gather(
    indices: Uint8Array<ArrayBuffer>,
    indexBytes: 1 | 2 | 4 | 8,
    validity: Uint8Array,
  ): Uint8Array<ArrayBuffer> {
    const { bytes: width } = dtypeInfo(this.#dtype);
    const places: KeyWords = new WORDS[indexBytes](indices.buffer);
    const known = new WORDS[width](this.#values.buffer, 0, this.#bytes / width);
    const values = new WORDS[width](places.length);
    for (let i = 0; i < places.length; i++) {
      const isValid = validity.length === 0 || ((validity[i >> 3] ?? 0) >> (i & 7)) & 1;
      if (!isValid) continue;
      const value = known[Number(places[i])];
      if (value === undefined)
        throw damagedFile(`a dictionary of ${known.length} values has none at ${places[i]}`);
      values[i] = value;
    }
    return new Uint8Array(values.buffer);
  }
}
