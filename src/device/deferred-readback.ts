import type { Buffer } from './buffer.js';

/** What a word is before it has arrived: all bits are set. */
const PENDING_WORD = 0xffffffff;

/** Words of a buffer that come to the host with the next wait: as many as were asked for until it began. */
export class DeferredReadback {
  readonly buffer: Buffer;
  /** Bytes from the buffer's start. */
  readonly offset: number;
  #count = 0;
  #words: Uint32Array | undefined;

  constructor(buffer: Buffer, offset: number) {
    this.buffer = buffer;
    this.offset = offset;
  }

  /** How many are to come. */
  get count(): number {
    return this.#count;
  }

  /** Asks for so many, counted from the first one on. */
  request(count: number): void {
    this.#count = Math.max(this.#count, count);
  }

  /** Takes them from where they came, unless that has gone with its device. */
  deliver({ buffer, byteOffset, byteLength }: ArrayBufferView): void {
    if (byteLength === 4 * this.#count)
      this.#words = new Uint32Array(buffer, byteOffset, this.#count).slice();
  }

  /** Words from `at` on; all bits of each are set before they have arrived. */
  words(at: number, count: number): Uint32Array {
    // `subarray` would have V8 make memory for them, which small arrays have only when somebody asks for it.
    return this.#words?.slice(at, at + count) ?? new Uint32Array(count).fill(PENDING_WORD);
  }

  word(at: number): number {
    return this.#words?.[at] ?? PENDING_WORD;
  }

  /** Have they arrived, and is each of them zero? */
  get isZero(): boolean {
    if (!this.#words) return false;
    for (let i = 0; i < this.#words.length; i++) if (this.#words[i] !== 0) return false;
    return true;
  }
}
