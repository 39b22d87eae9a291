/** A range in a ring of bytes. */
export interface RingAllocation {
  readonly begin: number;
  /** Bytes of the range, a multiple of the alignment. */
  readonly size: number;
  /** Total bytes allocated up to the end of this range; the argument of `free`. */
  readonly endPosition: number;
}

/** Allocates consecutive ranges of a ring of bytes. They are freed in the same order. */
export class RingAllocator {
  readonly #size: number;
  readonly #alignment: number;
  /** Total bytes allocated so far, including those skipped at the end of the ring. */
  #endPosition = 0;
  /** Total bytes freed so far. */
  #freed = 0;

  /**
   * @param size bytes of the ring
   * @param alignment ranges begin at its multiples
   */
  constructor(size: number, alignment: number) {
    this.#size = size;
    this.#alignment = alignment;
  }

  get endPosition(): number {
    return this.#endPosition;
  }

  /** Returns the next range of at least `bytes` bytes; undefined if the ring has no room. */
  allocate(bytes: number): RingAllocation | undefined {
    const size = Math.ceil(bytes / this.#alignment) * this.#alignment;
    const offset = this.#endPosition % this.#size;
    const skipped = offset + size > this.#size ? this.#size - offset : 0;
    const endPosition = this.#endPosition + skipped + size;
    if (endPosition - this.#freed > this.#size) return undefined;
    this.#endPosition = endPosition;
    return { begin: (offset + skipped) % this.#size, size, endPosition };
  }

  /** Frees all ranges up to the one that ends at `endPosition`. */
  free(endPosition: number): void {
    this.#freed = Math.max(this.#freed, endPosition);
  }

  /** Restarts at the front of the ring, so that the same ranges are used again. No range may be in use. */
  reset(): void {
    this.#endPosition = 0;
    this.#freed = 0;
  }
}
