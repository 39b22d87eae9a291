import * as cl from '../../opencl/index.js';
import { powerAtLeast } from '../../util/powers.js';
import { Buffer } from './buffer.js';
import { MAX_BYTES, MAX_RING_BYTES, MAX_SLOTS, MIN_SLOT_BYTES } from './policy.js';

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
  /** Counts one command. */
  enqueue(): void;
  /** Whether everything before that position is done. */
  hasPassed(position: number): boolean;
}

/** Bytes that are copied in one transfer. */
export interface TransferRange {
  readonly buffer: Buffer;
  readonly offset: number;
  readonly memory: Uint8Array;
}

/** A slot of a staging arena: a range of its memory on the host and on the device. */
export class StagingSlot {
  /** Requested bytes, which `memory` shows on the host. */
  readonly bytes: number;
  /** First byte of the slot in its ring, and its size in bytes. */
  readonly begin: number;
  readonly size: number;
  /** @internal */
  readonly ring: SlotRing;
  readonly #timeline: ArenaTimeline;
  #releasedAt: number | undefined;

  /** @internal */
  constructor(timeline: ArenaTimeline, ring: SlotRing, begin: number, bytes: number) {
    this.#timeline = timeline;
    this.ring = ring;
    this.begin = begin;
    this.size = ring.slotBytes;
    this.bytes = bytes;
  }

  /** Host memory of the slot. */
  get memory(): Uint8Array {
    return this.ring.host.subarray(this.begin, this.begin + this.bytes);
  }

  /** Device memory of the slot. */
  get buffer(): Buffer {
    return this.ring.subBufferAt(this.begin);
  }

  /** Releases the slot. Commands that use it may still be in flight. May be called twice. */
  release(): void {
    this.#releasedAt ??= this.#timeline.enqueued;
  }

  /** Whether the slot is released, and the queue has passed everything that was enqueued before that. */
  get isFree(): boolean {
    return this.#releasedAt !== undefined && this.#timeline.hasPassed(this.#releasedAt);
  }
}

/**
 * Slots of one size. They are taken in a ring. Each has a sub-buffer of the device memory, which is created once.
 * Sub-buffers never overlap, because a driver crashed on the release of overlapping ones.
 */
class SlotRing {
  readonly pair: StagingPair;
  readonly host: Uint8Array;
  readonly slotBytes: number;
  readonly #count: number;
  /** Slots in use, in ring order, and the index of the next one. */
  readonly #used: StagingSlot[] = [];
  #next = 0;
  readonly #subBuffers = new Map<number, Buffer>();

  constructor(pair: StagingPair, slotBytes: number) {
    this.pair = pair;
    this.host = new Uint8Array(pair.host);
    this.slotBytes = slotBytes;
    this.#count = Math.floor(pair.host.byteLength / slotBytes);
  }

  /** Returns a slot; undefined if none is free. */
  take(timeline: ArenaTimeline, bytes: number): StagingSlot | undefined {
    const inUse = this.#used.findIndex((slot) => !slot.isFree);
    this.#used.splice(0, inUse < 0 ? this.#used.length : inUse);
    const isDetached = this.host.length === 0; // the device was abandoned
    if (isDetached || this.#used.length >= this.#count) return undefined;
    if (this.#used.length === 0) this.#next = 0; // reuse the same places, which are in the caches
    const slot = new StagingSlot(timeline, this, this.#next * this.slotBytes, bytes);
    this.#next = (this.#next + 1) % this.#count;
    this.#used.push(slot);
    return slot;
  }

  /** @throws OpenCLError when the driver cannot create the sub-buffer */
  subBufferAt(origin: number): Buffer {
    const known = this.#subBuffers.get(origin);
    if (known) return known;
    const { device, beforeRelease } = this.pair;
    const region = { origin, size: this.slotBytes };
    const handle = cl.createSubBuffer(device.handle, 0, cl.BUFFER_CREATE_TYPE_REGION, region);
    const subBuffer = new Buffer(this.slotBytes, handle, beforeRelease);
    this.#subBuffers.set(origin, subBuffer);
    return subBuffer;
  }

  release(): void {
    for (const subBuffer of this.#subBuffers.values()) subBuffer.release();
    this.#subBuffers.clear();
    this.pair.device.release();
  }
}

/**
 * Pinned memory for the small transfers of one direction between host and device.
 *
 * Each array gets a slot of its size class, which is free again when the queue has passed its release. Slots with
 * device memory are transferred together, with one transfer per contiguous range: for a small array, a transfer and its
 * event cost the driver more than the bytes. Slots without device memory are for single transfers: a driver copies
 * ordinary memory itself and lets the device wait meanwhile.
 */
export class StagingArena {
  readonly #timeline: ArenaTimeline;
  /** Undefined after `release`. Arrays are then transferred by the driver. */
  #allocatePair: ((bytes: number) => StagingPair) | undefined;
  /** Slots by size, created on first use; undefined if the memory could not be allocated. */
  readonly #rings = new Map<number, SlotRing | undefined>();
  #pending: StagingSlot[] = [];
  #pendingBytes = 0;

  /**
   * @param timeline positions of the queue
   * @param allocatePair allocates the given number of bytes on both sides
   */
  constructor(timeline: ArenaTimeline, allocatePair: (bytes: number) => StagingPair) {
    this.#timeline = timeline;
    this.#allocatePair = allocatePair;
  }

  /** Bytes that wait for the next transfer. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Returns a slot on the host for `bytes` bytes; undefined if no slot is free or the array is larger than 512 KiB. */
  allocateHost(bytes: number): StagingSlot | undefined {
    return bytes > 0 && bytes <= MAX_BYTES ? this.#ringFor(bytes)?.take(this.#timeline, bytes) : undefined;
  }

  /** Like `allocateHost`, with device memory; undefined also if the driver cannot create that. */
  allocate(bytes: number): StagingSlot | undefined {
    const slot = this.allocateHost(bytes);
    try {
      return slot?.buffer && slot;
    } catch {
      slot?.release();
      return undefined;
    }
  }

  /** Returns a slot on the host with a copy of an array; undefined as for `allocateHost`. */
  copyOnHost(view: ArrayBufferView): StagingSlot | undefined {
    return filled(this.allocateHost(view.byteLength), view);
  }

  /** Adds a slot to the next transfer. */
  enqueueSlot(slot: StagingSlot): void {
    this.#timeline.enqueue();
    this.#pending.push(slot);
    this.#pendingBytes += slot.bytes;
  }

  /**
   * Copies an array into a slot and adds it to the next transfer.
   *
   * @returns the slot; undefined as for `allocate`
   */
  enqueue(view: ArrayBufferView): StagingSlot | undefined {
    const slot = filled(this.allocate(view.byteLength), view);
    if (slot) this.enqueueSlot(slot);
    return slot;
  }

  /** Removes the pending slots and returns them as contiguous ranges. */
  takePending(): TransferRange[] {
    if (this.#pending.length === 0) return [];
    const pending = this.#pending.sort((a, b) => a.size - b.size || a.begin - b.begin);
    this.#pending = [];
    this.#pendingBytes = 0;
    const ranges: { first: StagingSlot; last: StagingSlot }[] = [];
    for (const slot of pending) {
      const range = ranges.at(-1);
      const isNext = range?.last.ring === slot.ring && slot.begin <= range.last.begin + slot.size;
      if (range && isNext) range.last = slot;
      else ranges.push({ first: slot, last: slot });
    }
    return ranges.map(({ first: { ring, begin }, last }) => ({
      buffer: ring.pair.device,
      offset: begin,
      memory: ring.host.subarray(begin, last.begin + last.bytes),
    }));
  }

  /** Releases the device memory. */
  release(): void {
    for (const ring of this.#rings.values()) ring?.release();
    this.#rings.clear();
    this.#allocatePair = undefined;
  }

  #ringFor(bytes: number): SlotRing | undefined {
    const slotBytes = Math.max(MIN_SLOT_BYTES, powerAtLeast(bytes));
    if (!this.#rings.has(slotBytes)) this.#rings.set(slotBytes, this.#createRing(slotBytes));
    return this.#rings.get(slotBytes);
  }

  #createRing(slotBytes: number): SlotRing | undefined {
    try {
      const pair = this.#allocatePair?.(Math.min(MAX_RING_BYTES, MAX_SLOTS * slotBytes));
      return pair && new SlotRing(pair, slotBytes);
    } catch {
      return undefined; // transfers by the driver are slower, but not a failure
    }
  }
}

/** Copies an array into a slot, if there is one. */
function filled(slot: StagingSlot | undefined, { buffer, byteOffset, byteLength }: ArrayBufferView) {
  slot?.ring.host.set(new Uint8Array(buffer, byteOffset, byteLength), slot.begin);
  return slot;
}
