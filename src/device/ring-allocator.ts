/** A place in a ring of bytes. */
export interface RingAllocation {
  readonly begin: number;
  /** Bytes that it takes, a multiple of the unit. */
  readonly size: number;
  /** Bytes that were taken since the beginning, up to its end: to be told to `free`. */
  readonly endPosition: number;
}

/** Places in a ring of bytes, which are taken one behind the other, and are free again in that order. */
export class RingAllocator {
  readonly #size: number;
  readonly #alignment: number;
  /** Bytes that were taken since the beginning, those that were skipped at the end of the ring among them. */
  #endPosition = 0;
  /** Of them, bytes that are free again. */
  #freed = 0;

  /** @param alignment places begin on its multiples */
  constructor(size: number, alignment: number) {
    this.#size = size;
    this.#alignment = alignment;
  }

  get endPosition(): number {
    return this.#endPosition;
  }

  /** The next place for so many bytes; undefined when there is no room. */
  allocate(bytes: number): RingAllocation | undefined {
    const size = Math.ceil(bytes / this.#alignment) * this.#alignment;
    const offset = this.#endPosition % this.#size;
    const skipped = offset + size > this.#size ? this.#size - offset : 0;
    const endPosition = this.#endPosition + skipped + size;
    if (endPosition - this.#freed > this.#size) return undefined;
    this.#endPosition = endPosition;
    return { begin: (offset + skipped) % this.#size, size, endPosition };
  }

  /** Frees all places up to one. */
  free(endPosition: number): void {
    this.#freed = Math.max(this.#freed, endPosition);
  }

  /** Begins anew, when none is in use: the same places come again. */
  reset(): void {
    this.#endPosition = 0;
    this.#freed = 0;
  }
}
