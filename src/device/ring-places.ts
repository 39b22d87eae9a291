/** A place in a ring of bytes. */
export interface RingPlace {
  readonly begin: number;
  /** Bytes that it takes, a multiple of the unit. */
  readonly room: number;
  /** Bytes that were taken since the beginning, up to its end: to be told to `free`. */
  readonly taken: number;
}

/** Places in a ring of bytes, which are taken one behind the other, and are free again in that order. */
export class RingPlaces {
  readonly #size: number;
  readonly #unit: number;
  /** Bytes that were taken since the beginning, those that were skipped at the end of the ring among them. */
  #taken = 0;
  /** Of them, bytes that are free again. */
  #freed = 0;

  /** @param unit places begin on its multiples */
  constructor(size: number, unit: number) {
    this.#size = size;
    this.#unit = unit;
  }

  get taken(): number {
    return this.#taken;
  }

  /** The next place for so many bytes; undefined when there is no room. */
  take(bytes: number): RingPlace | undefined {
    const room = Math.ceil(bytes / this.#unit) * this.#unit;
    const at = this.#taken % this.#size;
    const skipped = at + room > this.#size ? this.#size - at : 0;
    const taken = this.#taken + skipped + room;
    if (taken - this.#freed > this.#size) return undefined;
    this.#taken = taken;
    return { begin: (at + skipped) % this.#size, room, taken };
  }

  /** Frees all places up to one. */
  free(taken: number): void {
    this.#freed = Math.max(this.#freed, taken);
  }

  /** Begins anew, when none is in use: the same places come again. */
  reset(): void {
    this.#taken = 0;
    this.#freed = 0;
  }
}
