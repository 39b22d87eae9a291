import { RingPlaces } from './ring-places.js';

/** Copies out of a tray what has arrived there. */
export interface Landing {
  readonly from: Uint8Array;
  readonly to: ArrayBufferView;
}

/** Larger transfers are left to the driver, or to staging. */
const MOST_BYTES = 2 ** 19;
/** Places begin on multiples of a line of the cache. */
const LINE = 64;

/**
 * Pinned memory that small transfers pass through: a driver that is given ordinary memory copies it by itself, and
 * has the device wait meanwhile. Places are taken in a ring, and are free again when the queue has come past them.
 */
export class Tray {
  /** Made when the first transfer comes; without pinned memory all of them go the driver's own way. */
  #memory: Uint8Array | undefined;
  #make: (() => ArrayBuffer) | undefined;
  #places: RingPlaces | undefined;
  #landings: Landing[] = [];

  /** @param make makes the pinned memory */
  constructor(make: () => ArrayBuffer) {
    this.#make = make;
  }

  /** A copy for the device to read; undefined when there is no room, or they are many bytes. */
  copyOf(view: ArrayBufferView): Uint8Array | undefined {
    const place = this.#placeFor(view);
    place?.set(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
    return place;
  }

  /** Where the device is to write what is taken from there by whoever waits for it; undefined likewise. */
  room(bytes: number): Uint8Array | undefined {
    const memory = bytes <= MOST_BYTES ? this.#made() : undefined;
    const place = memory && this.#places?.take(bytes);
    return place && memory?.subarray(place.begin, place.begin + bytes);
  }

  /** Where the device is to write what `landed` brings to `view`; undefined likewise. */
  placeFor(view: ArrayBufferView): Uint8Array | undefined {
    const from = this.#placeFor(view);
    if (from) this.#landings.push({ from, to: view });
    return from;
  }

  /**
   * A point behind all places that were taken so far.
   *
   * @returns to be called when the queue has come to it: brings what has arrived to where it belongs, if all went well
   */
  mark(): (well: boolean) => void {
    const taken = this.#places?.taken ?? 0;
    const landings = this.#landings;
    this.#landings = [];
    return (well) => {
      if (well) for (const landing of landings) land(landing);
      this.#places?.free(taken);
    };
  }

  /** Copying so few bytes takes less time than having the driver do it. */
  #placeFor({ byteLength, buffer }: ArrayBufferView): Uint8Array | undefined {
    return buffer === this.#memory?.buffer ? undefined : this.room(byteLength);
  }

  #made(): Uint8Array | undefined {
    const make = this.#make;
    this.#make = undefined;
    try {
      if (make) {
        this.#memory = new Uint8Array(make());
        this.#places = new RingPlaces(this.#memory.length, LINE);
      }
    } catch {
      return undefined; // the driver's own way is slower, and no failure
    }
    return this.#memory?.length ? this.#memory : undefined; // it is detached with a device that was given up
  }
}

export function land({ from, to }: Landing): void {
  const { buffer, byteOffset, byteLength } = to;
  // Memory that was transferred or shrunk meanwhile is told of by the call whose result it was to hold.
  if (byteLength === from.length) new Uint8Array(buffer, byteOffset, byteLength).set(from);
}
