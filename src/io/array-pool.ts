import { newArray } from '../keys/array.js';
import { type Dtype, dtypeInfo, type KeyArray } from '../keys/dtype.js';
import type { SorterOperations } from '../sort/api/sorter-operations.js';
import { MemoryError } from '../util/errors.js';
import { powerAtMost } from '../util/powers.js';

/** Fewer bytes are had from V8 as soon. */
const MIN_BYTES = 2 ** 19;
/** More are not kept: pinning as much takes long, and nobody may ever ask for it again. */
const MOST_BYTES = 2 ** 30;
/** A room that is larger than so many times what is asked for is left to who needs it. */
const MAX_TIMES = 2;
/** One that was of no use for so many arrays is given back when there is to be another one. */
const MAX_AGE = 64;
/** Rooms are as large as one of so many sizes between two powers of two, so that files of about one size share them. */
const STEPS = 8;

/**
 * Arrays for the keys of files that are sorted one after the other, in memory that the device reaches directly: pages that
 * are there already, and that no transfer has to copy.
 */
export class ArrayPool {
  readonly #sorter: Pick<SorterOperations, 'alloc' | 'free'>;
  readonly #mostIdle: number;
  /** Rooms that nobody uses, the one that was used last at the end. */
  readonly #idle: { readonly room: Uint8Array<ArrayBuffer>; readonly givenAt: number }[] = [];
  readonly #lent = new Map<ArrayBufferLike, Uint8Array<ArrayBuffer>>();
  #idleBytes = 0;
  /** Arrays that were taken so far. */
  #taken = 0;

  /** @param mostIdle bytes that may wait for use */
  constructor(sorter: Pick<SorterOperations, 'alloc' | 'free'>, mostIdle: number) {
    this.#sorter = sorter;
    this.#mostIdle = mostIdle;
  }

  /** An array whose contents are undefined. @throws InputError for more than an array can have */
  take(dtype: Dtype, length: number): KeyArray {
    const bytes = length * dtypeInfo(dtype).bytes;
    if (bytes < MIN_BYTES || bytes > MOST_BYTES) return newArray(dtype, length);
    this.#taken++;
    const room = this.#fitting(bytes) ?? this.#made(bytes);
    if (!room) return newArray(dtype, length);
    this.#lent.set(room.buffer, room);
    return newArray(dtype, room.length / dtypeInfo(dtype).bytes, () => room.buffer).subarray(0, length);
  }

  /** A new room; undefined where there is no such memory left. */
  #made(bytes: number): Uint8Array<ArrayBuffer> | undefined {
    while (this.#idle[0] && this.#idle[0].givenAt < this.#taken - MAX_AGE) this.#drop();
    try {
      return this.#sorter.alloc('u8', roomOf(bytes)) as Uint8Array<ArrayBuffer>;
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      while (this.#idle.length > 0) this.#drop(); // what waits must never be the reason for a failure
      return undefined;
    }
  }

  /** The smallest room that is large enough. */
  #fitting(bytes: number): Uint8Array<ArrayBuffer> | undefined {
    let found = -1;
    let least = MAX_TIMES * bytes + 1;
    for (const [i, { room }] of this.#idle.entries()) {
      if (room.length >= bytes && room.length < least) [found, least] = [i, room.length];
    }
    if (found < 0) return undefined;
    const [one] = this.#idle.splice(found, 1);
    this.#idleBytes -= least;
    return one?.room;
  }

  /** Takes the memory of an array back, which nobody may use any more; others are left alone. */
  give({ buffer }: ArrayBufferView): void {
    const room = this.#lent.get(buffer);
    if (!room) return;
    this.#lent.delete(buffer);
    this.#idle.push({ room, givenAt: this.#taken });
    this.#idleBytes += room.length;
    while (this.#idleBytes > this.#mostIdle) this.#drop();
  }

  /** Forgets an array that a failed call may still use: its memory lasts as long as that. */
  forget({ buffer }: ArrayBufferView): void {
    const room = this.#lent.get(buffer);
    this.#lent.delete(buffer);
    if (room) this.#free(room);
  }

  #drop(): void {
    const room = this.#idle.shift()?.room;
    if (!room) return;
    this.#idleBytes -= room.length;
    this.#free(room);
  }

  #free(room: Uint8Array<ArrayBuffer>): void {
    this.#sorter.free(room).catch(() => undefined); // of a sorter that is closed it is free by that
  }
}

function roomOf(bytes: number): number {
  const step = powerAtMost(bytes) / STEPS;
  return Math.ceil(bytes / step) * step;
}
