/** Bytes by which what is held may grow before V8 is made to collect: it begins by itself at 64 MiB. */
const MOST_BYTES = 72 * 2 ** 20;

/**
 * Counts the bytes of device arrays that are not given back, and has V8 collect when there are many more of them than there
 * were after a collection: at least 72 MiB, and twice as many. V8 hears of each array and begins to collect by itself, but on a
 * busy machine its threads may come too late to that by any number of results.
 */
export class HeldBytes {
  #bytes = 0;
  /** The fewest since V8 was last made to collect: about what a program really holds. */
  #fewest = 0;
  readonly #collect: () => void;

  constructor(collect: () => void) {
    this.#collect = collect;
  }

  grow(bytes: number): void {
    this.#bytes += bytes;
  }

  shrink(bytes: number): void {
    this.#bytes -= bytes;
    this.#fewest = Math.min(this.#fewest, this.#bytes);
  }

  /** To be called in turns of the event loop, when V8 has told of what it collected. */
  check(): void {
    if (this.#bytes < this.#fewest + Math.max(MOST_BYTES, this.#fewest)) return;
    this.#collect();
    this.#fewest = this.#bytes;
  }
}
