import * as cl from '../opencl/index.js';
import { Buffer } from './buffer.js';
import type { Progress } from './progress.js';
import { type RingPlace, RingPlaces } from './ring-places.js';

/** Memory of one size on both sides. */
export interface Shores {
  /** Pinned. */
  readonly host: ArrayBuffer;
  readonly device: Buffer;
  /** Called before a part of the device's memory goes. */
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
  /** @internal */
  readonly quay: Quay;
  /** @internal Where the queue was when it was given back. */
  left: number | undefined;

  /** @internal A quay makes them. */
  constructor(quay: Quay, { begin, room, taken }: RingPlace, buffer: Buffer, bytes: number) {
    this.quay = quay;
    this.begin = begin;
    this.room = room;
    this.taken = taken;
    this.buffer = buffer;
    this.bytes = bytes;
  }

  get memory(): Uint8Array {
    return this.quay.host.subarray(this.begin, this.begin + this.bytes);
  }

  /** Gives it back, when commands that use it may still be under way. May be called twice. */
  release(): void {
    this.quay.leave(this);
  }
}

/**
 * Berths of one room. They are taken in a ring, and are free again when the queue has come past all that was enqueued before they
 * were given back. Each has its part of the device's memory, which is made once: a driver was seen to crash on releasing parts that
 * overlap, so none ever do.
 */
export class Quay {
  readonly shores: Shores;
  /** All memory of the host. */
  readonly host: Uint8Array;
  readonly #progress: Progress;
  readonly #ring: RingPlaces;
  /** What is taken of the ring, in its order. */
  readonly #places: { readonly taken: number; readonly left: number | undefined }[] = [];
  readonly #parts = new Map<number, Buffer>();

  /** @param room bytes, on whose multiples buffers may begin */
  constructor(progress: Progress, room: number, shores: Shores) {
    this.shores = shores;
    this.host = new Uint8Array(shores.host);
    this.#progress = progress;
    this.#ring = new RingPlaces(shores.host.byteLength, room);
  }

  /** A berth for so many bytes, at most `room`; undefined when there is none. */
  take(bytes: number): Berth | undefined {
    this.#clear();
    const place = this.#ring.take(bytes);
    if (!place) return undefined;
    const part = this.#partOf(place);
    if (!part) {
      this.#places.push({ taken: place.taken, left: this.#progress.enqueued });
      return undefined;
    }
    const berth = new Berth(this, place, part, bytes);
    this.#places.push(berth);
    return berth;
  }

  /** @internal Takes a berth back. */
  leave(berth: Berth): void {
    berth.left ??= this.#progress.enqueued;
  }

  /** Gives the device's memory back. */
  release(): void {
    for (const part of this.#parts.values()) part.release();
    this.#parts.clear();
    this.shores.device.release();
  }

  /** Frees what nothing uses any more. */
  #clear(): void {
    let free = 0;
    for (const { left, taken } of this.#places) {
      if (left === undefined || !this.#progress.hasPassed(left)) break;
      this.#ring.free(taken);
      free++;
    }
    if (free > 0) this.#places.splice(0, free);
    if (this.#places.length === 0) this.#ring.reset(); // the same places again, which caches hold
  }

  /** The part of the device's memory that a place is; undefined where the driver makes none. */
  #partOf({ begin, room }: RingPlace): Buffer | undefined {
    const known = this.#parts.get(begin);
    if (known) return known;
    const { device, beforeRelease } = this.shores;
    const region = { origin: begin, size: room };
    try {
      const handle = cl.createSubBuffer(device.handle, 0, cl.BUFFER_CREATE_TYPE_REGION, region);
      const part = new Buffer(room, handle, beforeRelease);
      this.#parts.set(begin, part);
      return part;
    } catch {
      return undefined;
    }
  }
}
