import { ConcurrencyLimiter } from '../../util/concurrency-limiter.js';
import { DeviceLostError } from '../../util/errors.js';
import type { PinnedMemory } from './pinned-memory.js';
import { MAX_COPIERS, SLICE_COPIERS, SLICES } from './policy.js';

const DEVICE_ABANDONED = 'cannot transfer data: the device was abandoned';

/** Staging memory of one transfer. */
export interface TransferRegion {
  readonly memory: Uint8Array;
  /** Maximum number of threads that may copy. */
  readonly threads: number;
  /** Whether so many transfers run that copied data leaves the caches before it is read. */
  readonly isContended: boolean;
}

/** Staging memory for the transfers of one direction, in slices. */
export class TransferRing {
  readonly pinned: PinnedMemory;
  readonly #slices: number;
  readonly #sliceBytes: number;
  readonly #admission: ConcurrencyLimiter;
  readonly #free: number[];

  constructor(pinned: PinnedMemory, slices = SLICES) {
    this.pinned = pinned;
    this.#slices = slices;
    this.#sliceBytes = pinned.memory.byteLength / slices;
    this.#admission = new ConcurrencyLimiter(slices);
    this.#free = Array.from({ length: slices }, (_, slice) => slice);
  }

  /** Runs `transfer` with one slice of the memory, as soon as one is free. */
  runInSlice(transfer: (region: TransferRegion) => Promise<unknown>): Promise<unknown> {
    return this.run(this.#sliceBytes, transfer);
  }

  /**
   * Runs `transfer` with memory for `bytes` bytes, when its turn comes: one slice if that suffices, else the whole
   * memory.
   */
  async run(bytes: number, transfer: (region: TransferRegion) => Promise<unknown>): Promise<unknown> {
    if (bytes > this.#sliceBytes) {
      return this.#admission.run(this.#slices, async () =>
        transfer({ memory: this.#view(), threads: MAX_COPIERS, isContended: false }),
      );
    }
    return this.#admission.run(1, async () => {
      const slice = this.#free.shift() ?? 0;
      const threads = Math.max(1, Math.floor(SLICE_COPIERS / (this.#slices - this.#free.length)));
      try {
        const memory = this.#view(slice * this.#sliceBytes, this.#sliceBytes);
        return await transfer({ memory, threads, isContended: threads === 1 });
      } finally {
        this.#free.push(slice);
      }
    });
  }

  /** @throws DeviceLostError when the device was abandoned while the transfer waited */
  #view(start?: number, bytes?: number): Uint8Array {
    const { memory, buffer } = this.pinned;
    if (buffer.released) throw new DeviceLostError(DEVICE_ABANDONED);
    return new Uint8Array(memory, start, bytes);
  }
}
