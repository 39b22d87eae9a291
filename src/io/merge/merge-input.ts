/** One sorted input of a merge: a window that moves through it, with an order check. */
import { InputError } from '../../util/errors.js';

/** A source of sorted records. */
export interface SortedStream {
  /** Name for messages: the path, or `stdin`. */
  readonly name: string;
  /** Size of all records in bytes; undefined while unknown. */
  readonly bytes: number | undefined;
  /** Fills `into` from byte `position` of the records on; defined when the source allows random access. */
  readonly readAt?: ((into: Uint8Array, position: number) => Promise<void>) | undefined;
  /** Yields the records in pieces of whole records. Can be called once. */
  pieces(): AsyncGenerator<Uint8Array>;
}

/** Checks whether records that arrive in pieces are in order. */
export interface OrderCheck {
  /** @param piece the next whole records; may be reused after the call */
  add(piece: Uint8Array): void;
  /** Position (from 0) and description of the first record that belongs before its predecessor. */
  readonly descent: { readonly at: number; readonly what: string } | undefined;
}

export class MergeInput {
  readonly name: string;
  readonly #stream: SortedStream;
  readonly #check: OrderCheck;
  /** Memory of the window, a whole number of records. */
  readonly #buffer: Uint8Array;
  #begin = 0;
  #end = 0;
  /** Number of bytes read so far. */
  #read = 0;
  #isEnded = false;
  #pieces: AsyncGenerator<Uint8Array> | undefined;
  /** Bytes that did not fit the window. */
  #rest: Uint8Array = new Uint8Array(0);

  constructor(stream: SortedStream, check: OrderCheck, buffer: Uint8Array) {
    this.name = stream.name;
    this.#stream = stream;
    this.#check = check;
    this.#buffer = buffer;
  }

  /** The records in the window; valid until the next `fill`. */
  get held(): Uint8Array {
    return this.#buffer.subarray(this.#begin, this.#end);
  }

  /** Whether the window holds the rest of the input. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Removes the first bytes from the window. */
  drop(bytes: number): void {
    this.#begin += bytes;
  }

  /**
   * Reads until the window is full or the input ends.
   *
   * @throws InputError when the input is not sorted
   * @throws errors of reading
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
      `cannot merge ${this.name}: it is not in the order of the merge (${what}, at position ${at}). ` +
        'Sort it first, or pass the options of its order',
      { details: { path: this.name, at } },
    );
  }
}
