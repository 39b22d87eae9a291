import { powerAtLeast } from '../util/powers.js';
import type { Buffer } from './buffer.js';
import type { Progress } from './progress.js';
import { type Berth, Quay, type Shores } from './quay.js';

/** Larger arrays go by themselves: for them a transfer costs little beside the bytes. */
const MOST_BYTES = 2 ** 19;
/** The smallest room of a berth: buffers may begin on its multiples everywhere. */
const SMALLEST_ROOM = 2 ** 12;
/** Berths of one room, at most, and bytes of all of them. */
const MOST_BERTHS = 2 ** 10;
const QUAY_BYTES = 2 ** 24;

/** Bytes that cross in one transfer. */
export interface Stretch {
  readonly buffer: Buffer;
  readonly offset: number;
  readonly memory: Uint8Array;
}

/**
 * Brings small arrays across to the device, or back: each has a berth in memory of both sides, at the quay of those of about its
 * size, and all that wait there at a time cross in as few transfers as there are gaps between them. Each transfer and its event cost
 * the driver more than the bytes of a small array.
 */
export class Ferry {
  readonly #progress: Progress;
  /** Without it arrays go by themselves. */
  #make: ((bytes: number) => Shores) | undefined;
  /** By their room, made when the first array comes; undefined where there was no memory for one. */
  readonly #quays = new Map<number, Quay | undefined>();
  #waiting: Berth[] = [];
  #waitingBytes = 0;

  /** @param make makes memory of so many bytes on both sides */
  constructor(progress: Progress, make: (bytes: number) => Shores) {
    this.#progress = progress;
    this.#make = make;
  }

  /** Bytes that wait to cross. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** A berth for so many bytes; undefined when there is no room, or they are many. */
  take(bytes: number): Berth | undefined {
    return bytes > 0 && bytes <= MOST_BYTES ? this.#quayFor(bytes)?.take(bytes) : undefined;
  }

  /** Has a berth cross with those that wait. */
  board(berth: Berth): void {
    this.#progress.enqueue();
    this.#waiting.push(berth);
    this.#waitingBytes += berth.bytes;
  }

  /** A berth with a copy of an array, which crosses with those that wait; undefined likewise. */
  carry({ buffer, byteOffset, byteLength }: ArrayBufferView): Berth | undefined {
    const berth = this.take(byteLength);
    if (!berth) return undefined;
    berth.quay.host.set(new Uint8Array(buffer, byteOffset, byteLength), berth.begin);
    this.board(berth);
    return berth;
  }

  /** Takes all out that waits. */
  depart(): Stretch[] {
    if (this.#waiting.length === 0) return [];
    const waiting = this.#waiting.sort((a, b) => a.room - b.room || a.begin - b.begin);
    this.#waiting = [];
    this.#waitingBytes = 0;
    const ranges: { first: Berth; last: Berth }[] = [];
    for (const berth of waiting) {
      const range = ranges.at(-1);
      const isNext = range?.last.quay === berth.quay && berth.begin <= range.last.begin + berth.room;
      if (range && isNext) range.last = berth;
      else ranges.push({ first: berth, last: berth });
    }
    return ranges.map(({ first: { quay, begin }, last }) => ({
      buffer: quay.shores.device,
      offset: begin,
      memory: quay.host.subarray(begin, last.begin + last.bytes),
    }));
  }

  /** Gives the device's memory back. */
  release(): void {
    for (const quay of this.#quays.values()) quay?.release();
    this.#quays.clear();
    this.#make = undefined;
  }

  #quayFor(bytes: number): Quay | undefined {
    const room = Math.max(SMALLEST_ROOM, powerAtLeast(bytes));
    if (this.#quays.has(room)) return this.#quays.get(room);
    const quay = this.#quayOf(room);
    this.#quays.set(room, quay);
    return quay;
  }

  #quayOf(room: number): Quay | undefined {
    try {
      const shores = this.#make?.(Math.min(QUAY_BYTES, MOST_BERTHS * room));
      return shores && new Quay(this.#progress, room, shores);
    } catch {
      return undefined; // to go by itself is slower, and no failure
    }
  }
}
