import type { Buffer } from './buffer.js';
import type { Queue } from './queue.js';

/**
 * Keeps released buffers for the next sort of a similar size, up to a budget of idle bytes.
 *
 * Allocation costs more than a small sort on most drivers. Since there is one in-order queue, a buffer
 * can be handed out again while commands that use it are still in flight; `atRest` is for code that uses another one.
 */
export class BufferPool {
  readonly #allocate: (bytes: number) => Buffer;
  #budget: number;
  readonly #idle: Buffer[] = [];
  #idleBytes = 0;
  #usedBytes = 0;
  #peakBytes = 0;
  readonly #queue: Pick<Queue, 'position' | 'hasPassed'>;
  /** Where the queue was when idle buffers were given back. */
  readonly #releasedAt = new WeakMap<Buffer, number>();

  /** @param queue whose commands use the buffers */
  constructor(
    allocate: (bytes: number) => Buffer,
    budgetBytes: number,
    queue: Pick<Queue, 'position' | 'hasPassed'>,
  ) {
    this.#allocate = allocate;
    this.#budget = budgetBytes;
    this.#queue = queue;
  }

  /**
   * A buffer of at least `bytes` bytes.
   *
   * @param preferred taken if it is idle: launches that were bound to it need not be made anew
   * @param requireIdle whether no command that is enqueued may use it any more, for use by another queue
   * @throws MemoryError
   */
  take(bytes: number, preferred?: Buffer, requireIdle = false): Buffer {
    const isIdle = (buffer: Buffer) => this.#queue.hasPassed(this.#releasedAt.get(buffer) ?? 0);
    const fits = (buffer: Buffer) =>
      buffer.bytes >= bytes && buffer.bytes <= 2 * Math.max(bytes, 4096) && (!requireIdle || isIdle(buffer));
    const same = preferred ? this.#idle.indexOf(preferred) : -1;
    // The one that was used last, so that repeated calls get the same few buffers.
    const found = same >= 0 ? same : this.#idle.findLastIndex(fits);
    const buffer = found >= 0 ? this.#idle.splice(found, 1)[0] : undefined;
    if (buffer) this.#idleBytes -= buffer.bytes;
    const taken = buffer ?? this.#allocateWithRetry(bytes);
    this.#usedBytes += taken.bytes;
    this.#peakBytes = Math.max(this.#peakBytes, this.#usedBytes + this.#idleBytes);
    return taken;
  }

  #allocateWithRetry(bytes: number): Buffer {
    try {
      return this.#allocate(bytes);
    } catch (error) {
      if (this.#idle.length === 0) throw error;
      this.clear(); // idle memory must never be the reason for a failure
      return this.#allocate(bytes);
    }
  }

  /** Takes a buffer back. */
  give(buffer: Buffer): void {
    this.#usedBytes -= buffer.bytes;
    if (buffer.bytes > this.#budget) {
      buffer.release();
      return;
    }
    this.#releasedAt.set(buffer, this.#queue.position);
    this.#idle.push(buffer);
    this.#idleBytes += buffer.bytes;
    while (this.#idleBytes > this.#budget) {
      const oldest = this.#idle.shift();
      if (!oldest) break;
      this.#idleBytes -= oldest.bytes;
      oldest.release();
    }
  }

  /**
   * Buffers of these sizes for what `enqueue` enqueues: they may be lent again at once, since the command that takes
   * them next comes later in the queue.
   *
   * @throws MemoryError
   */
  withBuffers<const S extends readonly number[], T>(
    sizes: S,
    enqueue: (...buffers: { -readonly [I in keyof S]: Buffer }) => T,
  ): T {
    const taken: Buffer[] = [];
    try {
      for (const bytes of sizes) taken.push(this.take(bytes));
      return enqueue(...(taken as { -readonly [I in keyof S]: Buffer }));
    } finally {
      for (const buffer of taken) this.give(buffer);
    }
  }

  /** Releases every idle buffer, and those in use when they are given back. */
  close(): void {
    this.#budget = -1;
    this.clear();
  }

  /** Releases every idle buffer. */
  clear(): void {
    for (const buffer of this.#idle.splice(0)) buffer.release();
    this.#idleBytes = 0;
  }

  /** Bytes that wait for use, bytes in use, and the most of both together that there ever were. */
  get usage(): { idle: number; used: number; peak: number } {
    return { idle: this.#idleBytes, used: this.#usedBytes, peak: this.#peakBytes };
  }
}
