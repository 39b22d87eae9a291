import { newArray } from '../keys/array.js';
import { type Dtype, dtypeInfo, type KeyArray } from '../keys/dtype.js';
import type { SorterOperations } from '../sort/api/sorter-operations.js';

/** Fewer bytes are had from V8 as soon. */
const FEWEST_BYTES = 2 ** 16;
/** More are not kept: pinning as much takes long, and nobody may ever ask for it again. */
const MOST_BYTES = 2 ** 30;
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
  readonly #idle: Uint8Array<ArrayBuffer>[] = [];
  readonly #lent = new Map<ArrayBufferLike, Uint8Array<ArrayBuffer>>();
  #idleBytes = 0;

  /** @param mostIdle bytes that may wait for use */
  constructor(sorter: Pick<SorterOperations, 'alloc' | 'free'>, mostIdle: number) {
    this.#sorter = sorter;
    this.#mostIdle = mostIdle;
  }

  /** An array whose contents are undefined. @throws MemoryError, InputError for more than an array can have */
  take(dtype: Dtype, length: number): KeyArray {
    const bytes = length * dtypeInfo(dtype).bytes;
    if (bytes < FEWEST_BYTES || bytes > MOST_BYTES) return newArray(dtype, length);
    const room = this.#fitting(bytes) ?? (this.#sorter.alloc('u8', roomOf(bytes)) as Uint8Array<ArrayBuffer>);
    this.#lent.set(room.buffer, room);
    return newArray(dtype, room.length / dtypeInfo(dtype).bytes, () => room.buffer).subarray(0, length);
  }

  /** The smallest room that is large enough. */
  #fitting(bytes: number): Uint8Array<ArrayBuffer> | undefined {
    let found = -1;
    for (const [i, { length }] of this.#idle.entries()) {
      if (length >= bytes && length < (this.#idle[found]?.length ?? Number.POSITIVE_INFINITY)) found = i;
    }
    if (found < 0) return undefined;
    const [room] = this.#idle.splice(found, 1);
    this.#idleBytes -= room?.length ?? 0;
    return room;
  }

  /** Takes the memory of an array back, which nobody may use any more; others are left alone. */
  give({ buffer }: ArrayBufferView): void {
    const room = this.#lent.get(buffer);
    if (!room) return;
    this.#lent.delete(buffer);
    this.#idle.push(room);
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
    const room = this.#idle.shift();
    if (!room) return;
    this.#idleBytes -= room.length;
    this.#free(room);
  }

  #free(room: Uint8Array<ArrayBuffer>): void {
    this.#sorter.free(room).catch(() => undefined); // of a sorter that is closed it is free by that
  }
}

function roomOf(bytes: number): number {
  const step = 2 ** Math.floor(Math.log2(bytes)) / STEPS;
  return Math.ceil(bytes / step) * step;
}
