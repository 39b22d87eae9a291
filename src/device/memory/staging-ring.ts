import { RingAllocator } from './ring-allocator.js';

/** A copy out of the ring that is due once the data has arrived. */
export interface PendingCopy {
  readonly from: Uint8Array;
  readonly to: ArrayBufferView;
}

/** Larger transfers are left to the driver, or to `Staging`. */
const MAX_BYTES = 2 ** 19;
/** Alignment of ranges: one cache line. */
const CACHE_LINE_BYTES = 64;

/**
 * Pinned memory for small transfers. A driver copies ordinary memory itself and lets the device wait meanwhile.
 *
 * Ranges are taken in a ring, and are free again when the queue has passed them.
 */
export class StagingRing {
  /** Allocated on first use. Without pinned memory, transfers are left to the driver. */
  #memory: Uint8Array | undefined;
  #createMemory: (() => ArrayBuffer) | undefined;
  #allocator: RingAllocator | undefined;
  #pendingCopies: PendingCopy[] = [];

  /** @param createMemory allocates the pinned memory */
  constructor(createMemory: () => ArrayBuffer) {
    this.#createMemory = createMemory;
  }

  /**
   * Returns a copy for the device to read; undefined without room, above 512 KiB, or for memory of the ring itself.
   */
  stageCopy(view: ArrayBufferView): Uint8Array | undefined {
    const region = this.#reserve(view);
    region?.set(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
    return region;
  }

  /**
   * Returns memory for the device to write, which the caller reads after its wait; undefined without room or above
   * 512 KiB.
   */
  allocate(bytes: number): Uint8Array | undefined {
    const memory = bytes <= MAX_BYTES ? this.#ensureMemory() : undefined;
    const region = memory && this.#allocator?.allocate(bytes);
    return region && memory?.subarray(region.begin, region.begin + bytes);
  }

  /**
   * Returns memory for the device to write, which the callback of `mark` copies to `view`; undefined as for
   * `stageCopy`.
   */
  reserve(view: ArrayBufferView): Uint8Array | undefined {
    const from = this.#reserve(view);
    if (from) this.#pendingCopies.push({ from, to: view });
    return from;
  }

  /**
   * Marks the end of all ranges taken so far.
   *
   * @returns callback for when the queue has reached the mark: completes the pending copies on success, frees the
   *   ranges
   */
  mark(): (succeeded: boolean) => void {
    const endPosition = this.#allocator?.endPosition ?? 0;
    const pendingCopies = this.#pendingCopies;
    this.#pendingCopies = [];
    return (succeeded) => {
      if (succeeded) for (const pendingCopy of pendingCopies) completeCopy(pendingCopy);
      this.#allocator?.free(endPosition);
    };
  }

  /** Returns a range for a view that is not in the ring. Copying few bytes here takes less time than in the driver. */
  #reserve({ byteLength, buffer }: ArrayBufferView): Uint8Array | undefined {
    return buffer === this.#memory?.buffer ? undefined : this.allocate(byteLength);
  }

  #ensureMemory(): Uint8Array | undefined {
    const createMemory = this.#createMemory;
    this.#createMemory = undefined;
    try {
      if (createMemory) {
        this.#memory = new Uint8Array(createMemory());
        this.#allocator = new RingAllocator(this.#memory.length, CACHE_LINE_BYTES);
      }
    } catch {
      return undefined; // transfers by the driver are slower, but not a failure
    }
    return this.#memory?.length ? this.#memory : undefined; // detached once the device is abandoned
  }
}

export function completeCopy({ from, to }: PendingCopy): void {
  const { buffer, byteOffset, byteLength } = to;
  // If the memory was detached or resized meanwhile, the call that returns the result reports it.
  if (byteLength === from.length) new Uint8Array(buffer, byteOffset, byteLength).set(from);
}
