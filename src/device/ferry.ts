import * as cl from '../opencl/index.js';
import { Buffer } from './buffer.js';
import type { Progress } from './progress.js';
import { type RingPlace, RingPlaces } from './ring-places.js';

/** Larger arrays go by themselves: for them a transfer costs little beside the bytes. */
const MOST_BYTES = 2 ** 19;
/** Parts of the device's memory that are kept for the next ones of their place and size. */
const MOST_PARTS = 1024;

/** Memory of one size on both sides. */
export interface Shores {
  /** Pinned. */
  readonly host: ArrayBuffer;
  readonly device: Buffer;
  /** Bytes on whose multiples parts of the device's memory begin. */
  readonly alignment: number;
  /** Called before a part goes. */
  readonly beforeRelease: () => void;
}

/** A place on both sides. */
export interface Berth {
  /** On the device. */
  readonly buffer: Buffer;
  /** On the host: as many bytes as were asked for. */
  readonly memory: Uint8Array;
  /** Gives it back, when commands that use it may still be under way. */
  release(): void;
}

/** Bytes that cross in one transfer. */
export interface Stretch {
  readonly buffer: Buffer;
  readonly offset: number;
  readonly memory: Uint8Array;
}

/** A berth as it lies in the ring. */
interface Place extends RingPlace {
  /** Where the queue was when it was given back. */
  left?: number;
}

/**
 * Brings small arrays across to the device, or back: each has a berth in memory of both sides, and all that wait at a time cross
 * in as few transfers as there are gaps between them. Each transfer and its event cost the driver more than the bytes of a small array.
 * Berths are taken in a ring, and are free again when the queue has come past all that was enqueued before they were given back.
 */
export class Ferry {
  readonly #progress: Progress;
  /** Made when the first array comes; without it arrays go by themselves. */
  #make: (() => Shores) | undefined;
  #shores: Shores | undefined;
  #ring: RingPlaces | undefined;
  /** Those that are in use, in their order. */
  readonly #places: Place[] = [];
  #waiting: Place[] = [];
  #waitingBytes = 0;
  readonly #berths = new WeakMap<Berth, Place>();
  /** By where they begin and end. */
  readonly #parts = new Map<number, Buffer>();

  constructor(progress: Progress, make: () => Shores) {
    this.#progress = progress;
    this.#make = make;
  }

  /** Bytes that wait to cross. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** A berth for so many bytes; undefined when there is no room, or they are many. */
  take(bytes: number): Berth | undefined {
    const shores = bytes > 0 && bytes <= MOST_BYTES ? this.#made() : undefined;
    if (!shores) return undefined;
    const place = this.#place(bytes);
    if (!place) return undefined;
    const buffer = this.#part(shores, place);
    if (!buffer) return undefined;
    const berth: Berth = {
      buffer,
      memory: new Uint8Array(shores.host, place.begin, bytes),
      release: () => {
        if (place.left !== undefined) return;
        place.left = this.#progress.enqueued;
        this.#keep(place, buffer);
      },
    };
    this.#berths.set(berth, place);
    return berth;
  }

  /** Has a berth cross with those that wait. */
  board(berth: Berth): void {
    const place = this.#berths.get(berth);
    if (!place) return;
    this.#progress.enqueue();
    this.#waiting.push(place);
    this.#waitingBytes += place.room;
  }

  /** Takes all out that waits. */
  depart(): Stretch[] {
    const shores = this.#shores;
    if (this.#waiting.length === 0 || !shores) return [];
    const waiting = this.#waiting.sort((a, b) => a.begin - b.begin);
    this.#waiting = [];
    this.#waitingBytes = 0;
    const ranges: [begin: number, end: number][] = [];
    for (const { begin, room } of waiting) {
      const last = ranges.at(-1);
      if (last && begin <= last[1]) last[1] = Math.max(last[1], begin + room);
      else ranges.push([begin, begin + room]);
    }
    return ranges.map(([begin, end]) => ({
      buffer: shores.device,
      offset: begin,
      memory: new Uint8Array(shores.host, begin, end - begin),
    }));
  }

  /** Gives the device's memory back. */
  release(): void {
    for (const part of this.#parts.values()) part.release();
    this.#parts.clear();
    this.#shores?.device.release();
    this.#shores = undefined;
    this.#make = undefined;
  }

  #made(): Shores | undefined {
    const make = this.#make;
    this.#make = undefined;
    try {
      if (make) {
        this.#shores = make();
        this.#ring = new RingPlaces(this.#shores.host.byteLength, this.#shores.alignment);
      }
    } catch {
      return undefined; // to go by itself is slower, and no failure
    }
    return this.#shores;
  }

  #place(bytes: number): Place | undefined {
    this.#clear();
    const place: Place | undefined = this.#ring?.take(bytes);
    if (place) this.#places.push(place);
    return place;
  }

  /** Frees what nothing uses any more. */
  #clear(): void {
    let free = 0;
    for (const { left, taken } of this.#places) {
      if (left === undefined || !this.#progress.hasPassed(left)) break;
      this.#ring?.free(taken);
      free++;
    }
    if (free > 0) this.#places.splice(0, free);
    if (this.#places.length === 0) this.#ring?.reset(); // the same places again, whose parts are kept
  }

  /** The part of the device's memory that a place is; undefined where the driver makes none. */
  #part({ device, beforeRelease }: Shores, place: Place): Buffer | undefined {
    const { begin, room } = place;
    const key = keyOf(place);
    const known = this.#parts.get(key);
    if (known && this.#parts.delete(key)) return known;
    const region = { origin: begin, size: room };
    try {
      const handle = cl.createSubBuffer(device.handle, 0, cl.BUFFER_CREATE_TYPE_REGION, region);
      return new Buffer(room, handle, beforeRelease);
    } catch {
      place.left = this.#progress.enqueued;
      return undefined;
    }
  }

  #keep(place: Place, part: Buffer): void {
    if (!this.#shores) {
      part.release();
      return;
    }
    this.#parts.set(keyOf(place), part);
    if (this.#parts.size <= MOST_PARTS) return;
    const [oldest] = this.#parts;
    if (!oldest) return;
    this.#parts.delete(oldest[0]);
    oldest[1].release();
  }
}

/** Of a part of the device's memory: no two places begin within one unit. */
const keyOf = ({ begin, room }: RingPlace): number => begin * MOST_BYTES + room;
