/** Dictionary-encoded columns. Runs in the subprocess. */

import type { KeyWords } from '../../../keys/array.js';
import type { Dtype } from '../../../keys/dtype.js';
import { dtypeInfo } from '../../../keys/dtype.js';
import { ArrowColumn } from './arrow-column.js';
import { type Body, type DictionaryHeader, damagedFile } from './arrow-file.js';

const WORDS = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: BigUint64Array } as const;

/** A dictionary of numbers of one dtype. */
export class ArrowDictionary {
  readonly #dtype: Dtype;
  #values: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  #bytes = 0;

  constructor(dtype: Dtype) {
    this.#dtype = dtype;
  }

  /** Applies a dictionary batch: a delta appends values, any other batch replaces them. */
  take({ data, isDelta }: DictionaryHeader, body: Body): void {
    const { bytes: width } = dtypeInfo(this.#dtype);
    const column = new ArrowColumn(data, body, { node: 0, buffer: 0 }, width);
    if (column.validity(0, column.rows).length > 0) throw damagedFile('a dictionary contains nulls');
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
   * Returns the values at the given indices.
   *
   * @param indices  read as unsigned, so that negative indices are out of range
   * @param indexBytes  bytes per index
   * @param validity  validity bits of the indices; empty if all are valid
   * @throws FormatError when an index is out of range
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
        throw damagedFile(`index ${places[i]} is outside a dictionary of ${known.length} values`);
      values[i] = value;
    }
    return new Uint8Array(values.buffer);
  }
}
