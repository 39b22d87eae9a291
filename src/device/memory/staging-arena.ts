import * as cl from '../../opencl/index.js';
import { Buffer } from './buffer.js';
import { type RingAllocation, RingAllocator } from './ring-allocator.js';

/** Memory of the same size on the host and on the device. */
export interface StagingPair {
  /** Pinned memory. */
  readonly host: ArrayBuffer;
  readonly device: Buffer;
  /** Called before a part of the device memory is released. */
  readonly beforeRelease: () => void;
}

/** Position of the queue whose commands use the slots. */
interface ArenaTimeline {
  readonly enqueued: number;
  /** Whether everything before that position is done. */
  hasPassed(position: number): boolean;
}

/** A slot of a staging arena: a range of the host memory and of the device memory. */
export class StagingSlot implements RingAllocation {
  /** Device memory of the slot. */
  readonly buffer: Buffer;
  /** Requested bytes, which `memory` shows on the host. */
  readonly bytes: number;
  readonly begin: number;
  readonly size: number;
  readonly endPosition: number;
  /** @internal */
  readonly arena: StagingArena;
  /** @internal Queue position at which the slot was released. */
  releasedAt: number | undefined;

  /** @internal Created by `StagingArena`. */
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

  /** Releases the slot. Commands that use it may still be in flight. May be called twice. */
  release(): void {
    this.arena.free(this);
  }
}

/**
 * Slots of one size on host and device. They are taken in a ring, and are free again when the queue has passed
 * everything that was enqueued before their release.
 *
 * Each slot has a sub-buffer of the device memory, which is created once. Sub-buffers never overlap, because a driver
 * crashed on the release of overlapping ones.
 */
export class StagingArena {
  readonly pair: StagingPair;
  /** Host memory of all slots. */
  readonly host: Uint8Array;
  readonly #timeline: ArenaTimeline;
  readonly #allocator: RingAllocator;
  /** Slots in use, in ring order. */
  readonly #slots: { readonly endPosition: number; readonly releasedAt: number | undefined }[] = [];
  readonly #subBuffers = new Map<number, Buffer>();

  /**
   * @param timeline positions of the queue
   * @param size bytes of a slot, at whose multiples buffers may begin
   */
  constructor(timeline: ArenaTimeline, size: number, pair: StagingPair) {
    this.pair = pair;
    this.host = new Uint8Array(pair.host);
    this.#timeline = timeline;
    this.#allocator = new RingAllocator(pair.host.byteLength, size);
  }

  /** Returns a slot for `bytes` bytes, at most one slot size; undefined if none is free. */
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

  /** @internal Releases a slot. */
  free(slot: StagingSlot): void {
    slot.releasedAt ??= this.#timeline.enqueued;
  }

  /** Releases the device memory. */
  release(): void {
    for (const subBuffer of this.#subBuffers.values()) subBuffer.release();
    this.#subBuffers.clear();
    this.pair.device.release();
  }

  /** Frees the slots that no command uses any more. */
  #reclaim(): void {
    let freedCount = 0;
    for (const { releasedAt, endPosition } of this.#slots) {
      if (releasedAt === undefined || !this.#timeline.hasPassed(releasedAt)) break;
      this.#allocator.free(endPosition);
      freedCount++;
    }
    if (freedCount > 0) this.#slots.splice(0, freedCount);
    if (this.#slots.length === 0) this.#allocator.reset(); // reuse the same places, which are in the caches
  }

  /** Returns the sub-buffer of a range; undefined if the driver cannot create it. */
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
