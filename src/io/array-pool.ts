import { newArray } from '../keys/array.js';
import { type Dtype, dtypeInfo, type KeyArray } from '../keys/dtype.js';
import type { SorterOperations } from '../sort/api/sorter-operations.js';
import { MemoryError } from '../util/errors.js';
import { powerAtMost } from '../util/powers.js';

/** Fewer bytes are had from V8 as soon. */
const MIN_BYTES = 2 ** 19;
/** More are not kept: pinning as much takes long, and nobody may ever ask for it again. */
const MAX_BYTES = 2 ** 30;
/** A room that is larger than so many times what is asked for is left to who needs it. */
const MAX_OVERSIZE = 2;
/** One that was of no use for so many arrays is given back when there is to be another one. */
const MAX_AGE = 64;
/** Rooms are as large as one of so many sizes between two powers of two, so that files of about one size share them. */
const SIZE_CLASSES = 8;

/**
 * Arrays for the keys of files that are sorted one after the other, in memory that the device reaches directly: pages that
 * are there already, and that no transfer has to copy.
 */
export class ArrayPool {
  readonly #sorter: Pick<SorterOperations, 'alloc' | 'free'>;
  readonly #maxIdleBytes: number;
  /** Rooms that nobody uses, the one that was used last at the end. */
  readonly #idle: { readonly memory: Uint8Array<ArrayBuffer>; readonly releasedAt: number }[] = [];
  readonly #inUse = new Map<ArrayBufferLike, Uint8Array<ArrayBuffer>>();
  #idleBytes = 0;
  /** Arrays that were taken so far. */
  #taken = 0;

  /** @param maxIdleBytes bytes that may wait for use */
  constructor(sorter: Pick<SorterOperations, 'alloc' | 'free'>, maxIdleBytes: number) {
    this.#sorter = sorter;
    this.#maxIdleBytes = maxIdleBytes;
  }

  /** An array whose contents are undefined. @throws InputError for more than an array can have */
  take(dtype: Dtype, length: number): KeyArray {
    const bytes = length * dtypeInfo(dtype).bytes;
    if (bytes < MIN_BYTES || bytes > MAX_BYTES) return newArray(dtype, length);
    this.#taken++;
    const memory = this.#takeFitting(bytes) ?? this.#allocate(bytes);
    if (!memory) return newArray(dtype, length);
    this.#inUse.set(memory.buffer, memory);
    return newArray(dtype, memory.length / dtypeInfo(dtype).bytes, () => memory.buffer).subarray(0, length);
  }

  /** A new room; undefined where there is no such memory left. */
  #allocate(bytes: number): Uint8Array<ArrayBuffer> | undefined {
    while (this.#idle[0] && this.#idle[0].releasedAt < this.#taken - MAX_AGE) this.#evictOldest();
    try {
      return this.#sorter.alloc('u8', roundUpSize(bytes)) as Uint8Array<ArrayBuffer>;
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      while (this.#idle.length > 0) this.#evictOldest(); // what waits must never be the reason for a failure
      return undefined;
    }
  }

  /** The smallest room that is large enough. */
  #takeFitting(bytes: number): Uint8Array<ArrayBuffer> | undefined {
    let found = -1;
    let smallest = MAX_OVERSIZE * bytes + 1;
    for (const [i, { memory }] of this.#idle.entries()) {
      if (memory.length >= bytes && memory.length < smallest) [found, smallest] = [i, memory.length];
    }
    if (found < 0) return undefined;
    const [entry] = this.#idle.splice(found, 1);
    this.#idleBytes -= smallest;
    return entry?.memory;
  }

  /** Takes the memory of an array back, which nobody may use any more; others are left alone. */
  release({ buffer }: ArrayBufferView): void {
    const memory = this.#inUse.get(buffer);
    if (!memory) return;
    this.#inUse.delete(buffer);
    this.#idle.push({ memory, releasedAt: this.#taken });
    this.#idleBytes += memory.length;
    while (this.#idleBytes > this.#maxIdleBytes) this.#evictOldest();
  }

  /** Forgets an array that a failed call may still use: its memory lasts as long as that. */
  abandon({ buffer }: ArrayBufferView): void {
    const memory = this.#inUse.get(buffer);
    this.#inUse.delete(buffer);
    if (memory) this.#free(memory);
  }

  #evictOldest(): void {
    const memory = this.#idle.shift()?.memory;
    if (!memory) return;
    this.#idleBytes -= memory.length;
    this.#free(memory);
  }

  #free(memory: Uint8Array<ArrayBuffer>): void {
    this.#sorter.free(memory).catch(() => undefined); // of a sorter that is closed it is free by that
  }
}

function roundUpSize(bytes: number): number {
  const step = powerAtMost(bytes) / SIZE_CLASSES;
  return Math.ceil(bytes / step) * step;
}
