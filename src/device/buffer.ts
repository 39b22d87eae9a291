import * as cl from '../opencl/index.js';
import { MemoryError } from '../util/errors.js';
import { typedError } from './status.js';

/** Device memory. Owned by whoever made it; released once. */
export class Buffer {
  readonly bytes: number;
  readonly handle: cl.MemObject;
  #released = false;

  constructor(bytes: number, handle: cl.MemObject) {
    this.bytes = bytes;
    this.handle = handle;
  }

  /**
   * `bytes` of device memory (at least 4, since OpenCL has no empty buffers).
   *
   * @param over host memory that the buffer lives in (CL_MEM_USE_HOST_PTR)
   * @throws MemoryError
   */
  static create(context: cl.Context, bytes: number, { flags = 0, over }: BufferOptions = {}): Buffer {
    if (!Number.isSafeInteger(bytes) || bytes < 0) {
      throw new MemoryError(`a buffer of ${bytes} bytes cannot be: expected a whole number of bytes`);
    }
    const size = Math.max(bytes, 4);
    try {
      const handle = over
        ? cl.createBuffer(context, cl.MEM_READ_WRITE | cl.MEM_USE_HOST_PTR | flags, size, over)
        : cl.createBuffer(context, cl.MEM_READ_WRITE | flags, size);
      return new Buffer(size, handle);
    } catch (error) {
      throw typedError(error, `allocating ${size} bytes`);
    }
  }

  /** Gives the memory back when all commands that use it are done; never blocks. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
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
  readonly over?: ArrayBufferView;
}
