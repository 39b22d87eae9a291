/** Words of memory that is shared by many, and most that one of them gets of it. */
const ARENA_WORDS = 1024;
const MAX_WORDS = 128;

/**
 * Small arrays of words for a driver to write, many in one piece of memory. Each would get memory of its own, as soon as a driver is
 * told where it is; and V8 collects its young objects when memory is asked for while these hold tens of megabytes, such as a large
 * result that nobody has seen yet.
 */
export class HostWordArena {
  /** Made when somebody takes words of it. */
  #words = new Uint32Array(0);
  #used = 0;

  /** So many words, which nobody else gets. */
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
