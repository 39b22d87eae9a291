import { newArray } from '../../keys/array.js';
import { type Dtype, dtypeInfo, type KeyArray } from '../../keys/dtype.js';
import type { SorterOperations } from '../../sort/api/sorter-operations.js';
import { MemoryError } from '../../util/errors.js';
import { powerAtMost } from '../../util/powers.js';
import { MAX_AGE, MAX_BYTES, MAX_OVERSIZE, MIN_BYTES, SIZE_CLASSES } from './policy.js';

type Memory = Pick<SorterOperations, 'allocPinned' | 'freePinned' | 'device'>;

/**
 * Pools key arrays for files that are sorted one after the other. The memory is directly accessible to the device: its
 * pages are already mapped, and transfers need no extra copy.
 */
export class ArrayPool {
  readonly #sorter: Memory;
  readonly #minBytes: number;
  readonly #maxIdleBytes: number;
  /** Idle buffers, the most recently used one last. */
  readonly #idle: { readonly memory: Uint8Array<ArrayBuffer>; readonly releasedAt: number }[] = [];
  readonly #inUse = new Map<ArrayBufferLike, Uint8Array<ArrayBuffer>>();
  #idleBytes = 0;
  /** Number of arrays taken so far. */
  #taken = 0;

  /**
   * @param sorter allocates and frees the memory
   * @param maxIdleBytes maximum total size of idle buffers, in bytes
   */
  constructor(sorter: Memory, maxIdleBytes: number) {
    this.#sorter = sorter;
    this.#minBytes = MIN_BYTES[sorter.device ? 'device' : 'host'];
    this.#maxIdleBytes = maxIdleBytes;
  }

  /**
   * Returns an array with undefined contents.
   *
   * @param dtype dtype of the keys
   * @param length number of keys
   * @throws InputError when `length` exceeds the maximum length of an array
   */
  take(dtype: Dtype, length: number): KeyArray {
    const bytes = length * dtypeInfo(dtype).bytes;
    if (bytes < this.#minBytes || bytes > MAX_BYTES) return newArray(dtype, length);
    this.#taken++;
    const memory = this.#takeFitting(bytes) ?? this.#allocate(bytes);
    if (!memory) return newArray(dtype, length);
    this.#inUse.set(memory.buffer, memory);
    return newArray(dtype, memory.length / dtypeInfo(dtype).bytes, () => memory.buffer).subarray(0, length);
  }

  /** Allocates a buffer; returns undefined when the sorter is out of such memory. */
  #allocate(bytes: number): Uint8Array<ArrayBuffer> | undefined {
    while (this.#idle[0] && this.#idle[0].releasedAt < this.#taken - MAX_AGE) this.#evictOldest();
    try {
      return this.#sorter.allocPinned('u8', roundUpSize(bytes)) as Uint8Array<ArrayBuffer>;
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      while (this.#idle.length > 0) this.#evictOldest(); // idle buffers must not cause an allocation to fail
      return undefined;
    }
  }

  /** Removes the smallest idle buffer of sufficient size from the pool and returns it. */
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

  /** Returns the memory of an array to the pool; the caller must not use the array any more. Ignores other arrays. */
  release({ buffer }: ArrayBufferView): void {
    const memory = this.#inUse.get(buffer);
    if (!memory) return;
    this.#inUse.delete(buffer);
    this.#idle.push({ memory, releasedAt: this.#taken });
    this.#idleBytes += memory.length;
    while (this.#idleBytes > this.#maxIdleBytes) this.#evictOldest();
  }

  /** Removes an array that a failed call may still use; its memory lives until that call ends. */
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
    this.#sorter.freePinned(memory).catch(() => undefined); // closing the sorter has freed it already
  }
}

function roundUpSize(bytes: number): number {
  const step = powerAtMost(bytes) / SIZE_CLASSES;
  return Math.ceil(bytes / step) * step;
}
