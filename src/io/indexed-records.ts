/** Codes of records with where these stood, as units that are sorted in partitions: an argsort of more records than memory holds. */
import { runYielding } from '../sort/host/steps.js';
import { WORD_BYTES, wordSpan } from './code-order.js';
import { layoutOrdering } from './layout-ordering.js';
import { RecordCodes } from './record-codes.js';
import { type RecordLayout, recordKeys } from './record-keys.js';
import type { RecordOrdering } from './record-ordering.js';

/** Bytes of a position, whichever there are in the end. */
const POSITION_BYTES = 8;

/** Units are moved by words of 32 bits. */
const ALIGNMENT = 4;

export class IndexedRecords {
  /** By which units are sorted; equal ones stay, and with them the positions of equal records. */
  readonly order: RecordOrdering;
  readonly #codes: RecordCodes;
  /** Where in a unit the position is. */
  readonly #at: number;

  /** @throws UsageError, DtypeError for an impossible layout */
  constructor(layout: RecordLayout) {
    this.#codes = new RecordCodes(layout.record, recordKeys(layout));
    const { bytes } = this.#codes;
    this.#at = Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
    this.order = {
      ...layoutOrdering({ record: this.#at + POSITION_BYTES, keys: [`0:${bytes}`] }),
      description: `records of ${layout.record} bytes with positions`,
    };
  }

  /** Bytes of the units of so many bytes of records. */
  bytesOf(bytes: number): number {
    return (bytes / this.#codes.record) * this.order.recordBytes;
  }

  /** The units of records in pieces. @param onTotal hears how many there were at the end */
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
      // The first byte of a code is the highest one of its word.
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

  /** The positions of units, as little-endian numbers of a dtype. */
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
