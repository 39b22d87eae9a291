/** Reads an input for the stages: once in order, and before that a part of it, or all, at any position. */

import type { ReadAt, RecordInput } from '../records/record-input.js';
import { assertNotAborted } from '../streams/raw.js';
import { readAhead } from '../streams/read-ahead.js';
import { piecesOf, regroupPieces } from './input.js';

export class InputReader {
  readonly #input: RecordInput;
  /** Pieces read in advance of a sequential input. */
  readonly #held: Uint8Array[] = [];
  #heldBytes = 0;
  #pieces: AsyncGenerator<Uint8Array> | undefined;
  #ended = false;

  constructor(input: RecordInput) {
    this.#input = input;
  }

  /** Size of all records in bytes; undefined while unknown. */
  get bytes(): number | undefined {
    return this.#input.bytes ?? (this.#ended ? this.#heldBytes : undefined);
  }

  /** Number of bytes that can be read at any position. */
  get readableBytes(): number {
    return this.#input.readAt ? (this.#input.bytes ?? 0) : this.#heldBytes;
  }

  /** Reads `maxBytes` bytes of a sequential input in advance, or all if there are fewer. */
  async hold(maxBytes: number, signal: AbortSignal): Promise<void> {
    if (this.#input.readAt) return;
    this.#pieces ??= this.#input.pieces();
    while (!this.#ended && this.#heldBytes < maxBytes) {
      assertNotAborted(signal);
      const { value, done } = await this.#pieces.next();
      if (done) {
        this.#ended = true;
        return;
      }
      this.#held.push(value);
      this.#heldBytes += value.length;
    }
  }

  readonly readAt: ReadAt = async (into, position) => {
    if (this.#input.readAt) return this.#input.readAt(into, position);
    let begin = 0;
    for (const piece of this.#held) {
      const end = begin + piece.length;
      const [first, last] = [Math.max(begin, position), Math.min(end, position + into.length)];
      if (first < last) into.set(piece.subarray(first - begin, last - begin), first - position);
      if (end >= position + into.length) return;
      begin = end;
    }
  };

  /**
   * Returns the records from a position on, in order. Can be called once.
   *
   * @param from position in bytes
   * @param recordBytes record size in bytes
   * @param buffer memory for two pieces in alternation
   */
  pieces(from: number, recordBytes: number, buffer: Uint8Array): AsyncGenerator<Uint8Array> {
    const { bytes = 0, readAt } = this.#input;
    if (readAt) return piecesOf(readAt, { begin: from, end: bytes, recordBytes, buffer });
    return readAhead(regroupPieces(this.#inOrder(from), recordBytes, buffer));
  }

  async *#inOrder(from: number): AsyncGenerator<Uint8Array> {
    this.#pieces ??= this.#input.pieces();
    let position = 0;
    const rest = (piece: Uint8Array): Uint8Array => {
      const skipped = Math.min(piece.length, Math.max(0, from - position));
      position += piece.length;
      return piece.subarray(skipped);
    };
    // Releases each piece as soon as it is used.
    for (let piece = this.#held.shift(); piece; piece = this.#held.shift()) {
      const left = rest(piece);
      if (left.length > 0) yield left;
    }
    for await (const piece of this.#pieces) {
      const left = rest(piece);
      if (left.length > 0) yield left;
    }
  }
}
