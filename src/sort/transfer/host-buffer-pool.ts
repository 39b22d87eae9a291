import type { MemorySource } from '../../keys/array.js';
import { MAX_IDLE } from './policy.js';

/**
 * A pool of host buffers of one size, for temporary data. Reuse spares V8 the collection and the system the
 * allocation of new pages.
 */
export class HostBufferPool {
  readonly bytes: number;
  readonly #idle: ArrayBuffer[] = [];

  /** @param bytes size of each buffer */
  constructor(bytes: number) {
    this.bytes = bytes;
  }

  /**
   * Takes a buffer from the pool; its contents are undefined.
   *
   * @param from source of memory for a new buffer; default: V8
   */
  take(from?: MemorySource): ArrayBuffer {
    return this.#idle.pop() ?? (from ? from(this.bytes) : new ArrayBuffer(this.bytes));
  }

  /** Returns a buffer that is no longer read or written. */
  give(buffer: ArrayBuffer): void {
    if (this.#idle.length < MAX_IDLE) this.#idle.push(buffer);
  }

  /** Drops all idle buffers. */
  clear(): void {
    this.#idle.length = 0;
  }
}
