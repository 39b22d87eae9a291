/** Memory that is not cleared, because its user overwrites it. */

/** Returns memory of a number of bytes, with undefined contents. */
export type Allocate = (bytes: number) => Uint8Array<ArrayBuffer>;

export const uncleared: Allocate = (bytes) => new Uint8Array(Buffer.allocUnsafeSlow(bytes).buffer);

/** Additional share of an allocation, so that it serves for slightly larger ones. */
const SPARE_SHARE = 1 / 8;

/** Parts of memory for rounds of the same work, whose n-th part serves in each round. New memory costs page faults. */
export class ReusedMemory {
  readonly #parts: Uint8Array<ArrayBuffer>[] = [];
  #taken = 0;

  /** Starts a round. The parts of the last one are used again. */
  reset(): void {
    this.#taken = 0;
  }

  readonly take: Allocate = (bytes) => {
    const index = this.#taken++;
    let part = this.#parts[index];
    if (!part || part.length < bytes) part = uncleared(Math.ceil(bytes * (1 + SPARE_SHARE)));
    this.#parts[index] = part;
    return part.subarray(0, bytes);
  };
}
