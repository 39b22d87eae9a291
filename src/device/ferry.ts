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
export class Berth implements RingPlace {
  /** On the device. */
  readonly buffer: Buffer;
  /** On the host, where `memory` shows as many as were asked for. */
  readonly bytes: number;
  readonly begin: number;
  readonly room: number;
  readonly taken: number;
  /** @internal Where the queue was when it was given back. */
  left: number | undefined;
  readonly #ferry: Ferry;
  readonly #host: ArrayBuffer;

  /** @internal A ferry makes them. */
  constructor(
    ferry: Ferry,
    host: ArrayBuffer,
    { begin, room, taken }: RingPlace,
    buffer: Buffer,
    bytes: number,
  ) {
    this.#ferry = ferry;
    this.#host = host;
    this.begin = begin;
    this.room = room;
    this.taken = taken;
    this.buffer = buffer;
    this.bytes = bytes;
  }

  get memory(): Uint8Array {
    return new Uint8Array(this.#host, this.begin, this.bytes);
  }

  /** Gives it back, when commands that use it may still be under way. May be called twice. */
  release(): void {
    this.#ferry.leave(this);
  }
}

/** Bytes that cross in one transfer. */
export interface Stretch {
  readonly buffer: Buffer;
  readonly offset: number;
  readonly memory: Uint8Array;
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
  /** Those of the host. */
  #bytes: Uint8Array | undefined;
  #ring: RingPlaces | undefined;
  /** What is taken of the ring, in its order. */
  readonly #places: { readonly taken: number; readonly left: number | undefined }[] = [];
  #waiting: Berth[] = [];
  #waitingBytes = 0;
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
    this.#clear();
    const place = this.#ring?.take(bytes);
    if (!place) return undefined;
    const buffer = this.#part(shores, place);
    if (!buffer) {
      this.#places.push({ taken: place.taken, left: this.#progress.enqueued });
      return undefined;
    }
    const berth = new Berth(this, shores.host, place, buffer, bytes);
    this.#places.push(berth);
    return berth;
  }

  /** Has a berth cross with those that wait. */
  board(berth: Berth): void {
    this.#progress.enqueue();
    this.#waiting.push(berth);
    this.#waitingBytes += berth.room;
  }

  /** A berth with a copy of an array, which crosses with those that wait; undefined likewise. */
  carry({ buffer, byteOffset, byteLength }: ArrayBufferView): Berth | undefined {
    const berth = this.take(byteLength);
    if (!berth) return undefined;
    this.#bytes?.set(new Uint8Array(buffer, byteOffset, byteLength), berth.begin);
    this.board(berth);
    return berth;
  }

  /** @internal Takes a berth back. */
  leave(berth: Berth): void {
    if (berth.left !== undefined) return;
    berth.left = this.#progress.enqueued;
    this.#keep(berth, berth.buffer);
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
    this.#bytes = undefined;
    this.#make = undefined;
  }

  #made(): Shores | undefined {
    const make = this.#make;
    this.#make = undefined;
    try {
      if (make) {
        this.#shores = make();
        this.#bytes = new Uint8Array(this.#shores.host);
        this.#ring = new RingPlaces(this.#shores.host.byteLength, this.#shores.alignment);
      }
    } catch {
      return undefined; // to go by itself is slower, and no failure
    }
    return this.#shores;
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
  #part({ device, beforeRelease }: Shores, place: RingPlace): Buffer | undefined {
    const { begin, room } = place;
    const key = keyOf(place);
    const known = this.#parts.get(key);
    if (known && this.#parts.delete(key)) return known;
    const region = { origin: begin, size: room };
    try {
      const handle = cl.createSubBuffer(device.handle, 0, cl.BUFFER_CREATE_TYPE_REGION, region);
      return new Buffer(room, handle, beforeRelease);
    } catch {
      return undefined;
    }
  }

  #keep(place: RingPlace, part: Buffer): void {
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
