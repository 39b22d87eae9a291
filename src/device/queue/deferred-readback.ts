import type { Buffer } from '../memory/buffer.js';

/** Value of a word that has not arrived: all bits are set. */
const PENDING_WORD = 0xffffffff;

/**
 * Words of a buffer that the next wait copies to the host. Their number is the largest one requested until it begins.
 */
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

  /** Number of words to copy. */
  get count(): number {
    return this.#count;
  }

  /** Requests at least the first `count` words. */
  request(count: number): void {
    this.#count = Math.max(this.#count, count);
  }

  /** Copies the words out of the memory where they arrived, unless it was detached together with its device. */
  deliver({ buffer, byteOffset, byteLength }: ArrayBufferView): void {
    if (byteLength === 4 * this.#count)
      this.#words = new Uint32Array(buffer, byteOffset, this.#count).slice();
  }

  /** Returns `count` words from index `at` on. Words that have not arrived have all bits set. */
  words(at: number, count: number): Uint32Array {
    // `subarray` would make V8 allocate memory for the words, which small arrays get only on demand.
    return this.#words?.slice(at, at + count) ?? new Uint32Array(count).fill(PENDING_WORD);
  }

  word(at: number): number {
    return this.#words?.[at] ?? PENDING_WORD;
  }

  /** Whether all words have arrived and are zero. */
  get isZero(): boolean {
    if (!this.#words) return false;
    for (let i = 0; i < this.#words.length; i++) if (this.#words[i] !== 0) return false;
    return true;
  }
}
