/**
 * Counts the bytes of live objects with memory outside of V8, and triggers a collection when they have grown by much
 * and have doubled since the last one. V8 knows the size of each object and starts collections itself, but on a busy
 * machine its threads may lag by any number of results.
 *
 * A collection takes milliseconds, and a program that disposes of its objects needs none. If a collection found less
 * than half of the growth, the next one comes after four times the growth, until V8 has collected that much again.
 */
export class GcPressure {
  #bytes = 0;
  /** Fewest live bytes since the last triggered collection: about what the program really holds. */
  #baselineBytes = 0;
  readonly #maxGrowth: number;
  /** Growth in bytes that triggers a collection. */
  #threshold: number;
  /** Bytes that V8 has collected since the last triggered collection; undefined before the first one. */
  #collected: number | undefined;
  readonly #collect: () => void;

  /** @param maxGrowth growth in bytes after which `collect` is called */
  constructor(maxGrowth: number, collect: () => void) {
    this.#maxGrowth = maxGrowth;
    this.#threshold = maxGrowth;
    this.#collect = collect;
  }

  grow(bytes: number): void {
    this.#bytes += bytes;
  }

  /** @param collected whether V8 has collected the arrays that held the bytes */
  shrink(bytes: number, collected: boolean): void {
    this.#bytes -= bytes;
    this.#baselineBytes = Math.min(this.#baselineBytes, this.#bytes);
    if (!collected) return;
    this.#collected = (this.#collected ?? 0) + bytes;
    if (this.#collected >= this.#maxGrowth / 2) this.#threshold = this.#maxGrowth;
  }

  /** Triggers a collection if one is due. Call it in turns of the event loop, after V8 has run finalizers. */
  check(): void {
    const growth = this.#bytes - this.#baselineBytes;
    if (growth < Math.max(this.#threshold, this.#baselineBytes)) return;
    if (this.#collected !== undefined && this.#collected < this.#maxGrowth / 2) this.#threshold = 4 * growth;
    this.#collect();
    this.#baselineBytes = this.#bytes;
    this.#collected = 0;
  }
}
