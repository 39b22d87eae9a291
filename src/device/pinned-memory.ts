import * as cl from '../opencl/index.js';
import { Buffer } from './buffer.js';
import { typedError } from './status.js';

/** Host memory that the device reaches directly, and its buffer. */
export interface PinnedMemory {
  readonly memory: ArrayBuffer;
  readonly buffer: Buffer;
}

/** @param queue maps it @throws MemoryError */
export function pin(context: cl.Context, queue: cl.CommandQueue, bytes: number): PinnedMemory {
  const buffer = Buffer.create(context, bytes, { flags: cl.MEM_ALLOC_HOST_PTR });
  try {
    return map(queue, buffer, bytes);
  } catch (error) {
    buffer.release();
    throw typedError(error, `pinning ${bytes} bytes of host memory`);
  }
}

/** As `pin`, while this thread goes on: the driver makes the memory on another one. @throws MemoryError */
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
    throw typedError(error, `pinning ${bytes} bytes of host memory`);
  }
}

/** @param bytes of the buffer, which has more than were asked for where these are few */
function map(queue: cl.CommandQueue, buffer: Buffer, bytes: number): PinnedMemory {
  const flags = cl.MAP_READ | cl.MAP_WRITE;
  return { buffer, memory: cl.enqueueMapBuffer(queue, buffer.handle, true, flags, 0, bytes) };
}

/** Gives it back, and detaches it. @param queue that has mapped it */
export function unpin(queue: cl.CommandQueue, { buffer, memory }: PinnedMemory): void {
  try {
    cl.enqueueUnmapMemObject(queue, buffer.handle, memory);
  } catch (error) {
    // A transfer that was given up still uses the memory: without its buffer it lasts as long as that.
    if (!(error instanceof cl.OpenCLError) || error.code !== cl.INVALID_OPERATION.code) throw error;
  }
  buffer.release();
}
