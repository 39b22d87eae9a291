import { ConcurrencyLimiter } from '../util/concurrency-limiter.js';
import { DeviceLostError } from '../util/errors.js';
import type { PinnedMemory } from './pinned-memory.js';

/** Bytes of the memory that transfers of one direction pass through. */
export const RING_BYTES = 64 * 2 ** 20;
/** Parts of it, of which small transfers take one, so that several are under way at once; others take all. */
const LANES = 8;
/** Threads of a staged transfer: more of them keep each other waiting for pieces. */
const MAX_COPIERS = 8;
/** Of small ones, all of them together: with more, each waits for the others. */
const LANE_COPIERS = 4;

/** Why nothing passes any more. */
export const DEVICE_ABANDONED = 'the device was given up while bytes waited to pass';

/** What a transfer passes through. */
export interface TransferRegion {
  readonly memory: Uint8Array;
  /** Most threads that may copy. */
  readonly threads: number;
  /** So many are under way that nothing of theirs stays in the caches until somebody reads it. */
  readonly isContended: boolean;
}

/** Memory that transfers of one direction pass through, in lanes. */
export class TransferRing {
  readonly pinned: PinnedMemory;
  readonly #lanes: number;
  readonly #laneBytes: number;
  readonly #admission: ConcurrencyLimiter;
  readonly #free: number[];

  constructor(pinned: PinnedMemory, lanes = LANES) {
    this.pinned = pinned;
    this.#lanes = lanes;
    this.#laneBytes = pinned.memory.byteLength / lanes;
    this.#admission = new ConcurrencyLimiter(lanes);
    this.#free = Array.from({ length: lanes }, (_, lane) => lane);
  }

  /** Runs `transfer` with a lane of the memory, when one is free. */
  runInLane(transfer: (region: TransferRegion) => Promise<unknown>): Promise<unknown> {
    return this.run(this.#laneBytes, transfer);
  }

  /** Runs `transfer` with memory for so many bytes, or with all there is, when it is its turn. */
  async run(bytes: number, transfer: (region: TransferRegion) => Promise<unknown>): Promise<unknown> {
    if (bytes > this.#laneBytes) {
      return this.#admission.run(this.#lanes, async () =>
        transfer({ memory: this.#view(), threads: MAX_COPIERS, isContended: false }),
      );
    }
    return this.#admission.run(1, async () => {
      const lane = this.#free.shift() ?? 0;
      const threads = Math.max(1, Math.floor(LANE_COPIERS / (this.#lanes - this.#free.length)));
      try {
        const memory = this.#view(lane * this.#laneBytes, this.#laneBytes);
        return await transfer({ memory, threads, isContended: threads === 1 });
      } finally {
        this.#free.push(lane);
      }
    });
  }

  /** @throws DeviceLostError when the device was given up while others had their turn */
  #view(start?: number, bytes?: number): Uint8Array {
    const { memory, buffer } = this.pinned;
    if (buffer.released) throw new DeviceLostError(DEVICE_ABANDONED);
    return new Uint8Array(memory, start, bytes);
  }
}
