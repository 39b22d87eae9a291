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
