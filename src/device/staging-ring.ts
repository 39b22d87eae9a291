import { RingAllocator } from './ring-allocator.js';

/** Copies out of a tray what has arrived there. */
export interface PendingCopy {
  readonly from: Uint8Array;
  readonly to: ArrayBufferView;
}

/** Larger transfers are left to the driver, or to staging. */
const MAX_BYTES = 2 ** 19;
/** Places begin on multiples of a line of the cache. */
const CACHE_LINE_BYTES = 64;

/**
 * Pinned memory that small transfers pass through: a driver that is given ordinary memory copies it by itself, and
 * has the device wait meanwhile. Places are taken in a ring, and are free again when the queue has come past them.
 */
export class StagingRing {
  /** Made when the first transfer comes; without pinned memory all of them go the driver's own way. */
  #memory: Uint8Array | undefined;
  #createMemory: (() => ArrayBuffer) | undefined;
  #allocator: RingAllocator | undefined;
  #pendingCopies: PendingCopy[] = [];

  /** @param createMemory makes the pinned memory */
  constructor(createMemory: () => ArrayBuffer) {
    this.#createMemory = createMemory;
  }

  /** A copy for the device to read; undefined when there is no room, or they are many bytes. */
  stageCopy(view: ArrayBufferView): Uint8Array | undefined {
    const region = this.#reserve(view);
    region?.set(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
    return region;
  }

  /** Where the device is to write what is taken from there by whoever waits for it; undefined likewise. */
  allocate(bytes: number): Uint8Array | undefined {
    const memory = bytes <= MAX_BYTES ? this.#ensureMemory() : undefined;
    const region = memory && this.#allocator?.allocate(bytes);
    return region && memory?.subarray(region.begin, region.begin + bytes);
  }

  /** Where the device is to write what `landed` brings to `view`; undefined likewise. */
  reserve(view: ArrayBufferView): Uint8Array | undefined {
    const from = this.#reserve(view);
    if (from) this.#pendingCopies.push({ from, to: view });
    return from;
  }

  /**
   * A point behind all places that were taken so far.
   *
   * @returns to be called when the queue has come to it: brings what has arrived to where it belongs, if all went well
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

  /** Copying so few bytes takes less time than having the driver do it. */
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
      return undefined; // the driver's own way is slower, and no failure
    }
    return this.#memory?.length ? this.#memory : undefined; // it is detached with a device that was given up
  }
}

export function completeCopy({ from, to }: PendingCopy): void {
  const { buffer, byteOffset, byteLength } = to;
  // Memory that was transferred or shrunk meanwhile is told of by the call whose result it was to hold.
  if (byteLength === from.length) new Uint8Array(buffer, byteOffset, byteLength).set(from);
}
