import { Admission } from '../util/admission.js';
import type { Pinned } from './pinned.js';

/** Bytes of the memory that transfers of one direction pass through. */
export const RING_BYTES = 64 * 2 ** 20;
/** Parts of it, of which small transfers take one, so that several are under way at once; others take all. */
const LANES = 4;
const LANE_BYTES = RING_BYTES / LANES;
/** Threads of a staged transfer: more of them keep each other waiting for pieces. */
const MOST_COPIERS = 8;
/** Of one of several at once. */
const LANE_COPIERS = 4;

/** Memory that transfers of one direction pass through, in lanes. */
export class Ring {
  readonly pinned: Pinned;
  readonly #admission = new Admission(LANES);
  readonly #free = Array.from({ length: LANES }, (_, lane) => lane);

  constructor(pinned: Pinned) {
    this.pinned = pinned;
  }

  /** Runs `transfer` with memory for so many bytes, or with all there is, when it is its turn. */
  run(
    bytes: number,
    transfer: (memory: Uint8Array, mostThreads: number) => Promise<unknown>,
  ): Promise<unknown> {
    const { memory } = this.pinned;
    if (bytes > LANE_BYTES) {
      return this.#admission.run(LANES, () => transfer(new Uint8Array(memory), MOST_COPIERS));
    }
    return this.#admission.run(1, async () => {
      const lane = this.#free.shift() ?? 0;
      try {
        return await transfer(new Uint8Array(memory, lane * LANE_BYTES, LANE_BYTES), LANE_COPIERS);
      } finally {
        this.#free.push(lane);
      }
    });
  }
}
