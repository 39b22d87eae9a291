import * as cl from '../../opencl/index.js';
import { typedError } from '../platform/status.js';
import { Buffer } from './buffer.js';

/** Host memory that the device accesses directly, and its buffer. */
export interface PinnedMemory {
  readonly memory: ArrayBuffer;
  readonly buffer: Buffer;
}

/**
 * Allocates and maps pinned memory.
 *
 * @param queue queue that maps the memory
 * @throws MemoryError when the memory cannot be allocated
 */
export function pin(context: cl.Context, queue: cl.CommandQueue, bytes: number): PinnedMemory {
  const buffer = Buffer.create(context, bytes, { flags: cl.MEM_ALLOC_HOST_PTR });
  try {
    return map(queue, buffer, bytes);
  } catch (error) {
    buffer.release();
    throw typedError(error, `pin ${bytes} bytes of host memory`);
  }
}

/**
 * Like `pin`, without blocking this thread: the driver creates the memory on another one.
 *
 * @throws MemoryError when the memory cannot be allocated
 */
export async function pinAsync(
  context: cl.Context,
  queue: cl.CommandQueue,
  bytes: number,
): Promise<PinnedMemory> {
  const buffer = Buffer.create(context, bytes, { flags: cl.MEM_ALLOC_HOST_PTR });
  try {
    await cl.prepareMappingAsync(queue, buffer.handle);
    return map(queue, buffer, bytes);
  } catch (error) {
    buffer.release();
    throw typedError(error, `pin ${bytes} bytes of host memory`);
  }
}

/** @param bytes bytes to map; a buffer of fewer than 4 bytes was enlarged to 4 */
function map(queue: cl.CommandQueue, buffer: Buffer, bytes: number): PinnedMemory {
  const flags = cl.MAP_READ | cl.MAP_WRITE;
  return { buffer, memory: cl.enqueueMapBuffer(queue, buffer.handle, true, flags, 0, bytes) };
}

/**
 * Releases pinned memory and detaches its array.
 *
 * @param queue queue that mapped the memory
 */
export function unpin(queue: cl.CommandQueue, { buffer, memory }: PinnedMemory): void {
  try {
    cl.enqueueUnmapMemObject(queue, buffer.handle, memory);
  } catch (error) {
    // An abandoned transfer may still use the memory. Without its buffer, the memory lasts until the transfer ends.
    if (!(error instanceof cl.OpenCLError) || error.code !== cl.INVALID_OPERATION.code) throw error;
  }
  buffer.release();
}
