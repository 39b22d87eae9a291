import { powerAtLeast } from '../util/powers.js';
import type { Buffer } from './buffer.js';
import { StagingArena, type StagingPair, type StagingSlot } from './staging-arena.js';
import type { Timeline } from './timeline.js';

/** Larger arrays go by themselves: for them a transfer costs little beside the bytes. */
const MAX_BYTES = 2 ** 19;
/** The smallest room of a berth: buffers may begin on its multiples everywhere. */
const MIN_SLOT_BYTES = 2 ** 12;
/** Berths of one room, at most, and bytes of all of them. */
const MAX_SLOTS = 2 ** 10;
const MAX_ARENA_BYTES = 2 ** 24;

/** Bytes that cross in one transfer. */
export interface TransferRange {
  readonly buffer: Buffer;
  readonly offset: number;
  readonly memory: Uint8Array;
}

/**
 * Brings small arrays across to the device, or back: each has a berth in memory of both sides, at the quay of those of about its
 * size, and all that wait there at a time cross in as few transfers as there are gaps between them. Each transfer and its event cost
 * the driver more than the bytes of a small array.
 */
export class CoalescedTransfers {
  readonly #timeline: Timeline;
  /** Without it arrays go by themselves. */
  #allocatePair: ((bytes: number) => StagingPair) | undefined;
  /** By their room, made when the first array comes; undefined where there was no memory for one. */
  readonly #arenas = new Map<number, StagingArena | undefined>();
  #pending: StagingSlot[] = [];
  #pendingBytes = 0;

  /** @param allocatePair makes memory of so many bytes on both sides */
  constructor(timeline: Timeline, allocatePair: (bytes: number) => StagingPair) {
    this.#timeline = timeline;
    this.#allocatePair = allocatePair;
  }

  /** Bytes that wait to cross. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** A berth for so many bytes; undefined when there is no room, or they are many. */
  allocate(bytes: number): StagingSlot | undefined {
    return bytes > 0 && bytes <= MAX_BYTES ? this.#arenaFor(bytes)?.allocate(bytes) : undefined;
  }

  /** Has a berth cross with those that wait. */
  enqueueSlot(slot: StagingSlot): void {
    this.#timeline.enqueue();
    this.#pending.push(slot);
    this.#pendingBytes += slot.bytes;
  }

  /** A berth with a copy of an array, which crosses with those that wait; undefined likewise. */
  enqueue({ buffer, byteOffset, byteLength }: ArrayBufferView): StagingSlot | undefined {
    const slot = this.allocate(byteLength);
    if (!slot) return undefined;
    slot.arena.host.set(new Uint8Array(buffer, byteOffset, byteLength), slot.begin);
    this.enqueueSlot(slot);
    return slot;
  }

  /** Takes all out that waits. */
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

  /** Gives the device's memory back. */
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
      return undefined; // to go by itself is slower, and no failure
    }
  }
}
