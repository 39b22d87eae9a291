/** One sorted input of a merge: a window on it that moves towards its end, and a look whether it is in order. */
import { InputError } from '../../util/errors.js';

/** Units in order, as files and pipes have them. */
export interface SortedStream {
  /** For messages: the path, or `stdin`. */
  readonly name: string;
  /** Bytes of all units; undefined while that is not known. */
  readonly bytes: number | undefined;
  /** Fills `into` from byte `position` of the units on; there where any position can be read. */
  readonly readAt?: ((into: Uint8Array, position: number) => Promise<void>) | undefined;
  /** The units in pieces of whole ones; to be taken once. */
  pieces(): AsyncGenerator<Uint8Array>;
}

/** Looks whether units that come in pieces are in order. */
export interface OrderCheck {
  /** @param piece the next units, whole ones; may be used again */
  add(piece: Uint8Array): void;
  /** The first unit, from 0, that belongs before the one in front of it, and what is to be said of both. */
  readonly descent: { readonly at: number; readonly what: string } | undefined;
}

export class MergeInput {
  readonly name: string;
  readonly #stream: SortedStream;
  readonly #check: OrderCheck;
  /** Memory of the window, for whole units. */
  readonly #buffer: Uint8Array;
  #begin = 0;
  #end = 0;
  /** Bytes that were read so far. */
  #read = 0;
  #isEnded = false;
  #pieces: AsyncGenerator<Uint8Array> | undefined;
  /** What the window had no room for. */
  #rest: Uint8Array = new Uint8Array(0);

  constructor(stream: SortedStream, check: OrderCheck, buffer: Uint8Array) {
    this.name = stream.name;
    this.#stream = stream;
    this.#check = check;
    this.#buffer = buffer;
  }

  /** The next units; good until the window is filled again. */
  get held(): Uint8Array {
    return this.#buffer.subarray(this.#begin, this.#end);
  }

  /** Whether nothing comes behind what is held. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Gives up the first bytes of what is held. */
  drop(bytes: number): void {
    this.#begin += bytes;
  }

  /**
   * Reads until the window is full, or the input at its end.
   *
   * @throws InputError where the input is not in order; what reading throws
   */
  async fill(): Promise<void> {
    if (this.#isEnded || (this.#begin === 0 && this.#end === this.#buffer.length)) return;
    this.#buffer.copyWithin(0, this.#begin, this.#end);
    this.#end -= this.#begin;
    this.#begin = 0;
    const from = this.#end;
    await (this.#stream.readAt ? this.#readAt() : this.#take());
    this.#checkOrder(this.#buffer.subarray(from, this.#end));
  }

  async #readAt(): Promise<void> {
    const { bytes = 0, readAt } = this.#stream;
    const piece = this.#buffer.subarray(this.#end, this.#end + bytes - this.#read);
    if (piece.length > 0) await readAt?.(piece, this.#read);
    this.#end += piece.length;
    this.#read += piece.length;
    this.#isEnded = this.#read >= bytes;
  }

  async #take(): Promise<void> {
    this.#pieces ??= this.#stream.pieces();
    while (this.#end < this.#buffer.length) {
      if (this.#rest.length === 0) {
        const { value, done } = await this.#pieces.next();
        if (done) {
          this.#isEnded = true;
          return;
        }
        this.#rest = value;
      }
      const part = this.#rest.subarray(0, this.#buffer.length - this.#end);
      this.#buffer.set(part, this.#end);
      this.#end += part.length;
      this.#rest = this.#rest.subarray(part.length);
    }
  }

  #checkOrder(piece: Uint8Array): void {
    this.#check.add(piece);
    const { descent } = this.#check;
    if (!descent) return;
    const { at, what } = descent;
    throw new InputError(
      `${this.name} is not sorted as the merge is to be: ${what}, at position ${at} (from 0); sort it first, or say ` +
        'how it is sorted',
      { details: { path: this.name, at } },
    );
  }
}
