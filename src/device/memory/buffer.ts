import * as cl from '../../opencl/index.js';
import { MemoryError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { typedError } from '../platform/status.js';

/** Device memory. Its creator owns it and releases it once. */
export class Buffer {
  readonly bytes: number;
  readonly handle: cl.MemObject;
  readonly #beforeRelease: (() => void) | undefined;
  #released = false;

  constructor(bytes: number, handle: cl.MemObject, beforeRelease?: () => void) {
    this.bytes = bytes;
    this.handle = handle;
    this.#beforeRelease = beforeRelease;
  }

  /**
   * Allocates device memory.
   *
   * @param bytes size; at least 4 bytes are allocated, since OpenCL has no empty buffers
   * @param options `hostMemory` places the buffer in host memory (CL_MEM_USE_HOST_PTR)
   * @throws MemoryError when `bytes` is not a whole number of bytes or the device is out of memory
   */
  static create(context: cl.Context, bytes: number, options: BufferOptions = {}): Buffer {
    const { flags = 0, hostMemory, beforeRelease } = options;
    if (!Number.isSafeInteger(bytes) || bytes < 0) {
      throw invalidArgument('bytes', 'a whole number', bytes, { type: MemoryError });
    }
    const size = Math.max(bytes, 4);
    try {
      const handle = hostMemory
        ? cl.createBuffer(context, cl.MEM_READ_WRITE | cl.MEM_USE_HOST_PTR | flags, size, hostMemory)
        : cl.createBuffer(context, cl.MEM_READ_WRITE | flags, size);
      return new Buffer(size, handle, beforeRelease);
    } catch (error) {
      throw typedError(error, `allocate ${size} bytes`);
    }
  }

  /** Releases the memory when all commands that use it are done. Never blocks; repeated calls do nothing. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#beforeRelease?.();
    cl.releaseAsync(this.handle);
  }

  get released(): boolean {
    return this.#released;
  }

  [Symbol.dispose](): void {
    this.release();
  }
}

export interface BufferOptions {
  readonly flags?: number;
  readonly hostMemory?: ArrayBufferView;
  /** Called once, right before the memory is released. */
  readonly beforeRelease?: () => void;
}

/** The queue whose commands use the buffers. Positions count its commands. */
interface PoolQueue {
  readonly position: number;
  /** Whether everything before that position is done. */
  hasPassed(position: number): boolean;
}

/**
 * Keeps released buffers for the next sort of a similar size, up to a budget of idle bytes.
 *
 * Allocation costs more than a small sort on most drivers. The pool serves one in-order queue, so a buffer can be
 * reused while commands that use it are still in flight. Code that uses another queue passes `requireIdle`.
 */
export class BufferPool {
  readonly #allocate: (bytes: number) => Buffer;
  #budget: number;
  readonly #idle: Buffer[] = [];
  #idleBytes = 0;
  #usedBytes = 0;
  #peakBytes = 0;
  readonly #queue: PoolQueue;
  /** Queue position at which each idle buffer was returned. */
  readonly #releasedAt = new WeakMap<Buffer, number>();

  /**
   * @param allocate allocates device memory
   * @param budgetBytes maximum idle bytes
   * @param queue queue whose commands use the buffers
   */
  constructor(allocate: (bytes: number) => Buffer, budgetBytes: number, queue: PoolQueue) {
    this.#allocate = allocate;
    this.#budget = budgetBytes;
    this.#queue = queue;
  }

  /**
   * Returns a buffer of at least `bytes` bytes.
   *
   * @param bytes size; a reused buffer has at most twice as many bytes, or 8 KiB
   * @param requireIdle whether the buffer must not be in use by any enqueued command, as another queue requires
   * @throws MemoryError when the device is out of memory, even after all idle buffers were released
   */
  take(bytes: number, requireIdle = false): Buffer {
    const isIdle = (buffer: Buffer) => this.#queue.hasPassed(this.#releasedAt.get(buffer) ?? 0);
    const fits = (buffer: Buffer) =>
      buffer.bytes >= bytes && buffer.bytes <= 2 * Math.max(bytes, 4096) && (!requireIdle || isIdle(buffer));
    // The most recently used one, so that repeated calls get the same few buffers.
    const found = this.#idle.findLastIndex(fits);
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

  /** Returns a buffer to the pool. Buffers beyond the budget are released, the oldest first. */
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
   * Runs `enqueue` with buffers of the given sizes in bytes. They return to the pool at once, since the next command
   * that uses them comes later in the queue.
   *
   * @returns the result of `enqueue`
   * @throws MemoryError when the device is out of memory
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

  /** Releases every idle buffer. Buffers in use are released when they are returned. */
  close(): void {
    this.#budget = -1;
    this.clear();
  }

  /** Releases every idle buffer. */
  clear(): void {
    for (const buffer of this.#idle.splice(0)) buffer.release();
    this.#idleBytes = 0;
  }

  /** Bytes that are idle, bytes in use, and the peak of both together. */
  get usage(): { idle: number; used: number; peak: number } {
    return { idle: this.#idleBytes, used: this.#usedBytes, peak: this.#peakBytes };
  }
}
