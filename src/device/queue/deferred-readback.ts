import type { Buffer } from '../memory/buffer.js';
import { ARENA_WORDS, MAX_WORDS } from './policy.js';

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

/**
 * Allocates small word arrays for a driver to write, many in one piece of memory.
 *
 * V8 would allocate memory for each separate array as soon as a driver needs its address. Such an allocation can
 * trigger a collection of young objects while these hold tens of megabytes, such as a large new result.
 */
export class HostWordArena {
  /** Allocated on first use. */
  #words = new Uint32Array(0);
  #used = 0;

  /** Returns `count` words that no other caller gets. */
  allocate(count: number): Uint32Array {
    if (count > MAX_WORDS) return new Uint32Array(count);
    if (this.#used + count > this.#words.length) {
      this.#words = new Uint32Array(ARENA_WORDS);
      this.#used = 0;
    }
    const begin = this.#used;
    this.#used += count;
    return this.#words.subarray(begin, this.#used);
  }
}
