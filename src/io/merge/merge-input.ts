/** One sorted input of a merge: a window that moves through it, with an order check. */
import { InputError } from '../../util/errors.js';
import type { RecordInput } from '../records/record-input.js';

/** Checks whether records that arrive in pieces are in order. */
export interface OrderCheck {
  /** @param piece the next whole records; may be reused after the call */
  add(piece: Uint8Array): void;
  /** Position (from 0) and description of the first record that belongs before its predecessor. */
  readonly descent: { readonly at: number; readonly what: string } | undefined;
}

export class MergeInput {
  readonly name: string;
  readonly #stream: RecordInput;
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

  constructor(stream: RecordInput, check: OrderCheck, buffer: Uint8Array) {
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
