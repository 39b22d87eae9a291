/** Bytes by which what is held may grow before V8 is made to collect: it begins by itself at 64 MiB. */
const MAX_GROWTH_BYTES = 72 * 2 ** 20;

/**
 * Counts the bytes of device arrays that are not given back, and has V8 collect when there are many more of them than there
 * were after a collection: at least 72 MiB, and twice as many. V8 hears of each array and begins to collect by itself, but on a
 * busy machine its threads may come too late to that by any number of results.
 *
 * A collection takes milliseconds, and a program that disposes of what it holds needs none: where one found little, the next
 * comes after four times the growth, until V8 has found something again.
 */
export class GcPressure {
  #bytes = 0;
  /** The fewest since V8 was last made to collect: about what a program really holds. */
  #baselineBytes = 0;
  /** By how much what is held may grow. */
  #threshold = MAX_GROWTH_BYTES;
  /** Bytes that V8 has collected since it was last made to; undefined before that. */
  #collected: number | undefined;
  readonly #collect: () => void;

  constructor(collect: () => void) {
    this.#collect = collect;
  }

  grow(bytes: number): void {
    this.#bytes += bytes;
  }

  /** @param collected whether V8 has collected what held them */
  shrink(bytes: number, collected: boolean): void {
    this.#bytes -= bytes;
    this.#baselineBytes = Math.min(this.#baselineBytes, this.#bytes);
    if (!collected) return;
    this.#collected = (this.#collected ?? 0) + bytes;
    if (this.#collected >= MAX_GROWTH_BYTES / 2) this.#threshold = MAX_GROWTH_BYTES;
  }

  /** To be called in turns of the event loop, when V8 has told of what it collected. */
  check(): void {
    const growth = this.#bytes - this.#baselineBytes;
    if (growth < Math.max(this.#threshold, this.#baselineBytes)) return;
    if (this.#collected !== undefined && this.#collected < MAX_GROWTH_BYTES / 2) this.#threshold = 4 * growth;
    this.#collect();
    this.#baselineBytes = this.#bytes;
    this.#collected = 0;
  }
}
