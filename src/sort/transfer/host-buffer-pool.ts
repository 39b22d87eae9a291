import type { MemorySource } from '../../keys/array.js';

/** Rooms that are kept for the next ones to come. */
const MAX_IDLE = 4;

/**
 * Memory of the host, in rooms of one size, for what only passes through it: V8 has nothing to collect, and the system no pages to
 * make, when the next one gets the room of one before.
 */
export class HostBufferPool {
  readonly bytes: number;
  readonly #idle: ArrayBuffer[] = [];

  /** @param bytes of each room */
  constructor(bytes: number) {
    this.bytes = bytes;
  }

  /** A room that nobody else has. Any bytes may be in it. @param from where memory for a new one comes from; else from V8 */
  take(from?: MemorySource): ArrayBuffer {
    return this.#idle.pop() ?? (from ? from(this.bytes) : new ArrayBuffer(this.bytes));
  }

  /** Takes a room back that nobody reads or writes any more. */
  give(buffer: ArrayBuffer): void {
    if (this.#idle.length < MAX_IDLE) this.#idle.push(buffer);
  }

  /** Leaves idle rooms to V8. */
  clear(): void {
    this.#idle.length = 0;
  }
}
