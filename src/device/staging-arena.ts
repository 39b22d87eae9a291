import * as cl from '../opencl/index.js';
import { Buffer } from './buffer.js';
import { type RingAllocation, RingAllocator } from './ring-allocator.js';
import type { Timeline } from './timeline.js';

/** Memory of one size on both sides. */
export interface StagingPair {
  /** Pinned. */
  readonly host: ArrayBuffer;
  readonly device: Buffer;
  /** Called before a part of the device's memory goes. */
  readonly beforeRelease: () => void;
}

/** A place on both sides. */
export class StagingSlot implements RingAllocation {
  /** On the device. */
  readonly buffer: Buffer;
  /** On the host, where `memory` shows as many as were asked for. */
  readonly bytes: number;
  readonly begin: number;
  readonly size: number;
  readonly endPosition: number;
  /** @internal */
  readonly arena: StagingArena;
  /** @internal Where the queue was when it was given back. */
  releasedAt: number | undefined;

  /** @internal A quay makes them. */
  constructor(
    arena: StagingArena,
    { begin, size, endPosition }: RingAllocation,
    buffer: Buffer,
    bytes: number,
  ) {
    this.arena = arena;
    this.begin = begin;
    this.size = size;
    this.endPosition = endPosition;
    this.buffer = buffer;
    this.bytes = bytes;
  }

  get memory(): Uint8Array {
    return this.arena.host.subarray(this.begin, this.begin + this.bytes);
  }

  /** Gives it back, when commands that use it may still be under way. May be called twice. */
  release(): void {
    this.arena.free(this);
  }
}

/**
 * Berths of one room. They are taken in a ring, and are free again when the queue has come past all that was enqueued before they
 * were given back. Each has its part of the device's memory, which is made once: a driver was seen to crash on releasing parts that
 * overlap, so none ever do.
 */
export class StagingArena {
  readonly pair: StagingPair;
  /** All memory of the host. */
  readonly host: Uint8Array;
  readonly #timeline: Timeline;
  readonly #allocator: RingAllocator;
  /** What is taken of the ring, in its order. */
  readonly #slots: { readonly endPosition: number; readonly releasedAt: number | undefined }[] = [];
  readonly #subBuffers = new Map<number, Buffer>();

  /** @param size bytes, on whose multiples buffers may begin */
  constructor(timeline: Timeline, size: number, pair: StagingPair) {
    this.pair = pair;
    this.host = new Uint8Array(pair.host);
    this.#timeline = timeline;
    this.#allocator = new RingAllocator(pair.host.byteLength, size);
  }

  /** A berth for so many bytes, at most `room`; undefined when there is none. */
  allocate(bytes: number): StagingSlot | undefined {
    this.#reclaim();
    const allocation = this.#allocator.allocate(bytes);
    if (!allocation) return undefined;
    const subBuffer = this.#subBufferFor(allocation);
    if (!subBuffer) {
      this.#slots.push({ endPosition: allocation.endPosition, releasedAt: this.#timeline.enqueued });
      return undefined;
    }
    const slot = new StagingSlot(this, allocation, subBuffer, bytes);
    this.#slots.push(slot);
    return slot;
  }

  /** @internal Takes a berth back. */
  free(slot: StagingSlot): void {
    slot.releasedAt ??= this.#timeline.enqueued;
  }

  /** Gives the device's memory back. */
  release(): void {
    for (const subBuffer of this.#subBuffers.values()) subBuffer.release();
    this.#subBuffers.clear();
    this.pair.device.release();
  }

  /** Frees what nothing uses any more. */
  #reclaim(): void {
    let freedCount = 0;
    for (const { releasedAt, endPosition } of this.#slots) {
      if (releasedAt === undefined || !this.#timeline.hasPassed(releasedAt)) break;
      this.#allocator.free(endPosition);
      freedCount++;
    }
    if (freedCount > 0) this.#slots.splice(0, freedCount);
    if (this.#slots.length === 0) this.#allocator.reset(); // the same places again, which caches hold
  }

  /** The part of the device's memory that a place is; undefined where the driver makes none. */
  #subBufferFor({ begin, size }: RingAllocation): Buffer | undefined {
    const known = this.#subBuffers.get(begin);
    if (known) return known;
    const { device, beforeRelease } = this.pair;
    const region = { origin: begin, size: size };
    try {
      const handle = cl.createSubBuffer(device.handle, 0, cl.BUFFER_CREATE_TYPE_REGION, region);
      const subBuffer = new Buffer(size, handle, beforeRelease);
      this.#subBuffers.set(begin, subBuffer);
      return subBuffer;
    } catch {
      return undefined;
    }
  }
}
