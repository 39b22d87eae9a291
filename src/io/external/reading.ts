/** An input as the stages read it: once in order, and before that a part of it, or all, at any position. */
import { ahead } from '../ahead.js';
import { assertGoing } from '../raw.js';
import { gathered, type OpenFile, openFile, piecesOf, type UnitInput } from './input.js';
import type { ReadAt } from './sample.js';

export class Reading {
  readonly #input: UnitInput;
  readonly #file: OpenFile | undefined;
  /** What was read before its turn, of an input that is read in order. */
  readonly #held: Uint8Array[] = [];
  #heldBytes = 0;
  #pieces: AsyncGenerator<Uint8Array> | undefined;
  #ended = false;

  private constructor(input: UnitInput, file: OpenFile | undefined) {
    this.#input = input;
    this.#file = file;
  }

  static async open(input: UnitInput, signal: AbortSignal): Promise<Reading> {
    const { path, plainAt, bytes } = input;
    const isPlain = path !== undefined && plainAt !== undefined && bytes !== undefined;
    return new Reading(input, isPlain ? await openFile(path, plainAt, signal) : undefined);
  }

  /** Bytes of all units; undefined while that is not known. */
  get bytes(): number | undefined {
    return this.#input.bytes ?? (this.#ended ? this.#heldBytes : undefined);
  }

  /** Bytes that can be read at any position. */
  get known(): number {
    return this.#file ? (this.#input.bytes ?? 0) : this.#heldBytes;
  }

  /** Reads so much, or all, of an input that is read in order; nothing of others. */
  async hold(most: number, signal: AbortSignal): Promise<void> {
    if (this.#file) return;
    this.#pieces ??= this.#input.pieces();
    while (!this.#ended && this.#heldBytes < most) {
      assertGoing(signal);
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
    if (this.#file) return this.#file.readAt(into, position);
    let begin = 0;
    for (const piece of this.#held) {
      const end = begin + piece.length;
      const [first, last] = [Math.max(begin, position), Math.min(end, position + into.length)];
      if (first < last) into.set(piece.subarray(first - begin, last - begin), first - position);
      if (end >= position + into.length) return;
      begin = end;
    }
  };

  /** The units from a position on, in order; to be taken once. @param room for two of them, by turns */
  pieces(from: number, unit: number, room: Uint8Array): AsyncGenerator<Uint8Array> {
    const { bytes = 0 } = this.#input;
    if (this.#file) return piecesOf(this.#file.readAt, { begin: from, end: bytes, unit, room });
    return ahead(gathered(this.#inOrder(from), unit, room));
  }

  async *#inOrder(from: number): AsyncGenerator<Uint8Array> {
    this.#pieces ??= this.#input.pieces();
    let position = 0;
    const rest = (piece: Uint8Array): Uint8Array => {
      const skipped = Math.min(piece.length, Math.max(0, from - position));
      position += piece.length;
      return piece.subarray(skipped);
    };
    // What has been used is given up at once.
    for (let piece = this.#held.shift(); piece; piece = this.#held.shift()) {
      const left = rest(piece);
      if (left.length > 0) yield left;
    }
    for await (const piece of this.#pieces) {
      const left = rest(piece);
      if (left.length > 0) yield left;
    }
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }
}
