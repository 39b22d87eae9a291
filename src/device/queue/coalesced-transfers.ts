import { powerAtLeast } from '../../util/powers.js';
import type { Buffer } from '../memory/buffer.js';
import { StagingArena, type StagingPair, type StagingSlot } from '../memory/staging-arena.js';
import type { Timeline } from './timeline.js';

/** Larger arrays are transferred separately: the overhead of a transfer is small beside their bytes. */
const MAX_BYTES = 2 ** 19;
/** Smallest slot size. On every device, buffers may begin at its multiples. */
const MIN_SLOT_BYTES = 2 ** 12;
/** Maximum slots of an arena, and bytes of all of them. */
const MAX_SLOTS = 2 ** 10;
const MAX_ARENA_BYTES = 2 ** 24;

/** Bytes that are copied in one transfer. */
export interface TransferRange {
  readonly buffer: Buffer;
  readonly offset: number;
  readonly memory: Uint8Array;
}

/**
 * Gathers small copies between host and device into few transfers.
 *
 * Each array gets a slot in the staging arena of its size class. All pending slots are copied with one transfer per
 * contiguous range. For a small array, a transfer and its event cost the driver more than the bytes.
 */
export class CoalescedTransfers {
  readonly #timeline: Timeline;
  /** Undefined after `release`. Arrays are then transferred separately. */
  #allocatePair: ((bytes: number) => StagingPair) | undefined;
  /** Arenas by slot size, created on first use; undefined if the memory could not be allocated. */
  readonly #arenas = new Map<number, StagingArena | undefined>();
  #pending: StagingSlot[] = [];
  #pendingBytes = 0;

  /**
   * @param timeline positions of the queue
   * @param allocatePair allocates the given number of bytes on both sides
   */
  constructor(timeline: Timeline, allocatePair: (bytes: number) => StagingPair) {
    this.#timeline = timeline;
    this.#allocatePair = allocatePair;
  }

  /** Bytes that wait for the next transfer. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Returns a slot for `bytes` bytes; undefined if no slot is free or the array is larger than 512 KiB. */
  allocate(bytes: number): StagingSlot | undefined {
    return bytes > 0 && bytes <= MAX_BYTES ? this.#arenaFor(bytes)?.allocate(bytes) : undefined;
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
  enqueue({ buffer, byteOffset, byteLength }: ArrayBufferView): StagingSlot | undefined {
    const slot = this.allocate(byteLength);
    if (!slot) return undefined;
    slot.arena.host.set(new Uint8Array(buffer, byteOffset, byteLength), slot.begin);
    this.enqueueSlot(slot);
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
      const isNext = range?.last.arena === slot.arena && slot.begin <= range.last.begin + slot.size;
      if (range && isNext) range.last = slot;
      else ranges.push({ first: slot, last: slot });
    }
    return ranges.map(({ first: { arena, begin }, last }) => ({
      buffer: arena.pair.device,
      offset: begin,
      memory: arena.host.subarray(begin, last.begin + last.bytes),
    }));
  }

  /** Releases the device memory. */
  release(): void {
    for (const arena of this.#arenas.values()) arena?.release();
    this.#arenas.clear();
    this.#allocatePair = undefined;
  }

  #arenaFor(bytes: number): StagingArena | undefined {
    const slotBytes = Math.max(MIN_SLOT_BYTES, powerAtLeast(bytes));
    if (this.#arenas.has(slotBytes)) return this.#arenas.get(slotBytes);
    const arena = this.#createArena(slotBytes);
    this.#arenas.set(slotBytes, arena);
    return arena;
  }

  #createArena(slotBytes: number): StagingArena | undefined {
    try {
      const pair = this.#allocatePair?.(Math.min(MAX_ARENA_BYTES, MAX_SLOTS * slotBytes));
      return pair && new StagingArena(this.#timeline, slotBytes, pair);
    } catch {
      return undefined; // separate transfers are slower, but not a failure
    }
  }
}
