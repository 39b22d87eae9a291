/** Words of one piece of shared memory, and the maximum that one array gets of it. */
const ARENA_WORDS = 1024;
const MAX_WORDS = 128;

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
