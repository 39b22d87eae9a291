/** Pairs record codes with positions for a partitioned sort: the argsort of more records than fit in memory. */
import { runYielding } from '../../sort/host/steps.js';
import { WORD_BYTES, wordSpan } from './code-order.js';
import { layoutOrdering } from './layout-ordering.js';
import { RecordCodes } from './record-codes.js';
import { type RecordLayout, recordKeys } from './record-keys.js';
import type { RecordOrdering } from './record-ordering.js';

/** Bytes of a position in a record, independent of the output dtype. */
const POSITION_BYTES = 8;

/** Records are moved in 32-bit words. */
const ALIGNMENT = 4;

export class IndexedRecords {
  /** Order of the code records. It is stable, so positions of equal records stay in order. */
  readonly order: RecordOrdering;
  readonly #codes: RecordCodes;
  /** Byte offset of the position. */
  readonly #at: number;

  /**
   * @throws UsageError when the layout is invalid
   * @throws DtypeError when the layout names an unknown dtype
   */
  constructor(layout: RecordLayout) {
    this.#codes = new RecordCodes(layout.record, recordKeys(layout));
    const { bytes } = this.#codes;
    this.#at = Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
    this.order = {
      ...layoutOrdering({ record: this.#at + POSITION_BYTES, keys: [`0:${bytes}`] }),
      description: `records of ${layout.record} bytes with positions`,
    };
  }

  /** Returns the size of the code records for `bytes` bytes of input records. */
  bytesOf(bytes: number): number {
    return (bytes / this.#codes.record) * this.order.recordBytes;
  }

  /**
   * Yields the code records of input records, piece by piece.
   *
   * @param pieces input records
   * @param onTotal receives the number of records at the end
   */
  async *interleave(
    pieces: AsyncIterable<Uint8Array>,
    onTotal: (n: number) => void,
  ): AsyncGenerator<Uint8Array> {
    let n = 0;
    for await (const piece of pieces) {
      yield await this.#recordsOf(piece, n);
      n += piece.length / this.#codes.record;
    }
    onTotal(n);
  }

  async #recordsOf(piece: Uint8Array, first: number): Promise<Uint8Array> {
    const { recordBytes } = this.order;
    const n = piece.length / this.#codes.record;
    const interleaved = new Uint8Array(n * recordBytes);
    for (let begin = 0; begin < this.#codes.bytes; begin += WORD_BYTES) {
      const span = wordSpan(begin, this.#codes.bytes);
      const words = new BigUint64Array(n);
      await runYielding(this.#codes.fill({ bytes: piece }, span, words));
      const bytes = new Uint8Array(words.buffer);
      // The first byte of a code is the most significant byte of its word.
      for (let at = begin; at < span.end; at++) {
        for (let i = 0, from = span.end - 1 - at; i < n; i++, from += WORD_BYTES) {
          interleaved[i * recordBytes + at] = bytes[from] as number;
        }
      }
    }
    const numbers = new Uint32Array(interleaved.buffer);
    for (let i = 0, at = this.#at / 4; i < n; i++, at += recordBytes / 4) {
      numbers[at] = first + i; // modulo 2^32
      numbers[at + 1] = Math.floor((first + i) / 2 ** 32);
    }
    return interleaved;
  }

  /** Returns the positions of code records as little-endian numbers of `dtype`. */
  positionsOf(piece: Uint8Array, dtype: 'u32' | 'u64'): Uint8Array {
    const aligned = piece.byteOffset % 4 === 0 ? piece : piece.slice();
    const words = new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.length / 4);
    const step = this.order.recordBytes / 4;
    const stride = dtype === 'u64' ? 2 : 1;
    const positions = new Uint32Array((words.length / step) * stride);
    for (let at = this.#at / 4, to = 0; at < words.length; at += step, to += stride) {
      positions[to] = words[at] as number;
      if (stride === 2) positions[to + 1] = words[at + 1] as number;
    }
    return new Uint8Array(positions.buffer);
  }
}
