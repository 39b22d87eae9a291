import { native } from './binding.js';
import type { CommandBuffer, CommandQueue, Kernel, MemObject } from './objects.js';
import type { Properties, Triple } from './types.js';
import type { HostMemory, Size } from './values.js';

/** Sync points of commands in the same command buffer that must complete first; null or omitted for none. */
type SyncPoints = readonly number[] | null;

/**
 * Records a barrier after the commands of the sync points, or after all earlier commands if there are none. Calls
 * clCommandBarrierWithWaitListKHR.
 *
 * @param commandBuffer command buffer in the recording state
 * @param queue the queue of the command buffer, or null for it
 * @param syncPoints sync points of commands that must complete first; null or omitted for none
 * @returns the sync point of the command
 * @throws OpenCLError INVALID_COMMAND_BUFFER_KHR, INVALID_SYNC_POINT_WAIT_LIST_KHR; INVALID_OPERATION when the command
 *   buffer is finalized; INVALID_COMMAND_QUEUE
 * @example
 * ```ts
 * const point = cl.commandBarrierWithWaitListKHR(commandBuffer, null);
 * ```
 */
export function commandBarrierWithWaitListKHR(
  commandBuffer: CommandBuffer,
  queue: CommandQueue | null | undefined,
  syncPoints?: SyncPoints,
): number {
  return native().commandBarrierWithWaitListKHR(commandBuffer, queue, syncPoints);
}

/**
 * Records a copy between buffers. Calls clCommandCopyBufferKHR.
 *
 * @param commandBuffer command buffer in the recording state
 * @param queue the queue of the command buffer, or null for it
 * @param from source buffer
 * @param to destination buffer
 * @param fromOffset bytes from the start of `from`
 * @param toOffset bytes from the start of `to`
 * @param size bytes to copy
 * @param syncPoints sync points of commands that must complete first; null or omitted for none
 * @returns the sync point of the command
 * @throws OpenCLError INVALID_COMMAND_BUFFER_KHR, INVALID_SYNC_POINT_WAIT_LIST_KHR; INVALID_OPERATION when the command
 *   buffer is finalized; INVALID_MEM_OBJECT, INVALID_VALUE, MEM_COPY_OVERLAP
 * @example
 * ```ts
 * cl.commandCopyBufferKHR(commandBuffer, null, from, to, 0, 0, 4096);
 * ```
 */
export function commandCopyBufferKHR(
  commandBuffer: CommandBuffer,
  queue: CommandQueue | null | undefined,
  from: MemObject,
  to: MemObject,
  fromOffset: Size,
  toOffset: Size,
  size: Size,
  syncPoints?: SyncPoints,
): number;
export function commandCopyBufferKHR(...args: readonly unknown[]): unknown {
  return native().commandCopyBufferKHR(...args);
}

/**
 * Records a copy of a rectangular region between buffers. Calls clCommandCopyBufferRectKHR.
 *
 * @param commandBuffer command buffer in the recording state
 * @param queue the queue of the command buffer, or null for it
 * @param from source buffer
 * @param to destination buffer
 * @param fromOrigin [bytes, rows, slices] in `from`
 * @param toOrigin [bytes, rows, slices] in `to`
 * @param region [bytes, rows, slices] to copy
 * @param fromRowPitch bytes between rows of `from`; 0 for rows without gaps
 * @param fromSlicePitch bytes between slices of `from`; 0 for slices without gaps
 * @param toRowPitch bytes between rows of `to`; 0 for rows without gaps
 * @param toSlicePitch bytes between slices of `to`; 0 for slices without gaps
 * @param syncPoints sync points of commands that must complete first; null or omitted for none
 * @returns the sync point of the command
 * @throws OpenCLError INVALID_COMMAND_BUFFER_KHR, INVALID_SYNC_POINT_WAIT_LIST_KHR; INVALID_OPERATION when the command
 *   buffer is finalized; INVALID_MEM_OBJECT, INVALID_VALUE, MEM_COPY_OVERLAP
 * @example
 * ```ts
 * cl.commandCopyBufferRectKHR(commandBuffer, null, from, to, [0, 0, 0], [0, 0, 0], [64, 8, 1], 64, 0, 64, 0);
 * ```
 */
export function commandCopyBufferRectKHR(
  commandBuffer: CommandBuffer,
  queue: CommandQueue | null | undefined,
  from: MemObject,
  to: MemObject,
  fromOrigin: Triple,
  toOrigin: Triple,
  region: Triple,
  fromRowPitch: Size,
  fromSlicePitch: Size,
  toRowPitch: Size,
  toSlicePitch: Size,
  syncPoints?: SyncPoints,
): number;
export function commandCopyBufferRectKHR(...args: readonly unknown[]): unknown {
  return native().commandCopyBufferRectKHR(...args);
}

/**
 * Records a copy from a buffer to an image. Calls clCommandCopyBufferToImageKHR.
 *
 * @param commandBuffer command buffer in the recording state
 * @param queue the queue of the command buffer, or null for it
 * @param buffer source buffer
 * @param image destination image
 * @param offset bytes from the start of `buffer`
 * @param origin [x, y, z] in `image`, in pixels
 * @param region [width, height, depth] in pixels
 * @param syncPoints sync points of commands that must complete first; null or omitted for none
 * @returns the sync point of the command
 * @throws OpenCLError INVALID_COMMAND_BUFFER_KHR, INVALID_SYNC_POINT_WAIT_LIST_KHR; INVALID_OPERATION when the command
 *   buffer is finalized; INVALID_MEM_OBJECT, INVALID_VALUE
 * @example
 * ```ts
 * cl.commandCopyBufferToImageKHR(commandBuffer, null, buffer, image, 0, [0, 0, 0], [8, 8, 1]);
 * ```
 */
export function commandCopyBufferToImageKHR(
  commandBuffer: CommandBuffer,
  queue: CommandQueue | null | undefined,
  buffer: MemObject,
  image: MemObject,
  offset: Size,
  origin: Triple,
  region: Triple,
  syncPoints?: SyncPoints,
): number;
export function commandCopyBufferToImageKHR(...args: readonly unknown[]): unknown {
  return native().commandCopyBufferToImageKHR(...args);
}

/**
 * Records a copy between images. Calls clCommandCopyImageKHR.
 *
 * @param commandBuffer command buffer in the recording state
 * @param queue the queue of the command buffer, or null for it
 * @param from source image
 * @param to destination image of the same format
 * @param fromOrigin [x, y, z] in `from`, in pixels
 * @param toOrigin [x, y, z] in `to`, in pixels
 * @param region [width, height, depth] in pixels
 * @param syncPoints sync points of commands that must complete first; null or omitted for none
 * @returns the sync point of the command
 * @throws OpenCLError INVALID_COMMAND_BUFFER_KHR, INVALID_SYNC_POINT_WAIT_LIST_KHR; INVALID_OPERATION when the command
 *   buffer is finalized; INVALID_MEM_OBJECT, INVALID_VALUE, MEM_COPY_OVERLAP, IMAGE_FORMAT_MISMATCH
 * @example
 * ```ts
 * cl.commandCopyImageKHR(commandBuffer, null, from, to, [0, 0, 0], [0, 0, 0], [8, 8, 1]);
 * ```
 */
export function commandCopyImageKHR(
  commandBuffer: CommandBuffer,
  queue: CommandQueue | null | undefined,
  from: MemObject,
  to: MemObject,
  fromOrigin: Triple,
  toOrigin: Triple,
  region: Triple,
  syncPoints?: SyncPoints,
): number;
export function commandCopyImageKHR(...args: readonly unknown[]): unknown {
  return native().commandCopyImageKHR(...args);
}

/**
 * Records a copy from an image to a buffer. Calls clCommandCopyImageToBufferKHR.
 *
 * @param commandBuffer command buffer in the recording state
 * @param queue the queue of the command buffer, or null for it
 * @param image source image
 * @param buffer destination buffer
 * @param origin [x, y, z] in `image`, in pixels
 * @param region [width, height, depth] in pixels
 * @param offset bytes from the start of `buffer`
 * @param syncPoints sync points of commands that must complete first; null or omitted for none
 * @returns the sync point of the command
 * @throws OpenCLError INVALID_COMMAND_BUFFER_KHR, INVALID_SYNC_POINT_WAIT_LIST_KHR; INVALID_OPERATION when the command
 *   buffer is finalized; INVALID_MEM_OBJECT, INVALID_VALUE
 * @example
 * ```ts
 * cl.commandCopyImageToBufferKHR(commandBuffer, null, image, buffer, [0, 0, 0], [8, 8, 1], 0);
 * ```
 */
export function commandCopyImageToBufferKHR(
  commandBuffer: CommandBuffer,
  queue: CommandQueue | null | undefined,
  image: MemObject,
  buffer: MemObject,
  origin: Triple,
  region: Triple,
  offset: Size,
  syncPoints?: SyncPoints,
): number;
export function commandCopyImageToBufferKHR(...args: readonly unknown[]): unknown {
  return native().commandCopyImageToBufferKHR(...args);
}

/**
 * Records a fill of a buffer with a repeated pattern. Calls clCommandFillBufferKHR.
 *
 * @param commandBuffer command buffer in the recording state
 * @param queue the queue of the command buffer, or null for it
 * @param buffer buffer to fill
 * @param pattern a 32-bit integer takes 4 bytes, any other number an 8-byte double; memory is used as it is
 * @param offset bytes from the start of `buffer`; a multiple of the pattern's size
 * @param size bytes to fill; a multiple of the pattern's size
 * @param syncPoints sync points of commands that must complete first; null or omitted for none
 * @returns the sync point of the command
 * @throws OpenCLError INVALID_COMMAND_BUFFER_KHR, INVALID_SYNC_POINT_WAIT_LIST_KHR; INVALID_OPERATION when the command
 *   buffer is finalized; INVALID_MEM_OBJECT, INVALID_VALUE
 * @example
 * ```ts
 * cl.commandFillBufferKHR(commandBuffer, null, buffer, Uint32Array.of(0), 0, 4096);
 * ```
 */
export function commandFillBufferKHR(
  commandBuffer: CommandBuffer,
  queue: CommandQueue | null | undefined,
  buffer: MemObject,
  pattern: number | HostMemory,
  offset: Size,
  size: Size,
  syncPoints?: SyncPoints,
): number {
  return native().commandFillBufferKHR(commandBuffer, queue, buffer, pattern, offset, size, syncPoints);
}

/**
 * Records a fill of an image with a colour. Calls clCommandFillImageKHR.
 *
 * @param commandBuffer command buffer in the recording state
 * @param queue the queue of the command buffer, or null for it
 * @param image image to fill
 * @param color four numbers, or 16 bytes
 * @param origin [x, y, z] in pixels
 * @param region [width, height, depth] in pixels
 * @param syncPoints sync points of commands that must complete first; null or omitted for none
 * @returns the sync point of the command
 * @throws OpenCLError INVALID_COMMAND_BUFFER_KHR, INVALID_SYNC_POINT_WAIT_LIST_KHR; INVALID_OPERATION when the command
 *   buffer is finalized; INVALID_MEM_OBJECT, INVALID_VALUE
 * @example
 * ```ts
 * cl.commandFillImageKHR(commandBuffer, null, image, Float32Array.of(0, 0, 0, 1), [0, 0, 0], [8, 8, 1]);
 * ```
 */
export function commandFillImageKHR(
  commandBuffer: CommandBuffer,
  queue: CommandQueue | null | undefined,
  image: MemObject,
  color: readonly number[] | HostMemory,
  origin: Triple,
  region: Triple,
  syncPoints?: SyncPoints,
): number {
  return native().commandFillImageKHR(commandBuffer, queue, image, color, origin, region, syncPoints);
}

/**
 * Records a kernel launch with the current arguments of the kernel. Calls clCommandNDRangeKernelKHR.
 *
 * @param commandBuffer command buffer in the recording state
 * @param queue the queue of the command buffer, or null for it
 * @param properties properties of the command; the final 0 is added
 * @param kernel kernel whose arguments are all set
 * @param dimensions 1 to 3; each array has as many elements
 * @param offset first global ID in each dimension; null for 0
 * @param global work-items in each dimension
 * @param local work-items of a work-group in each dimension; null lets the driver choose
 * @param syncPoints sync points of commands that must complete first; null or omitted for none
 * @returns the sync point of the command
 * @throws OpenCLError INVALID_COMMAND_BUFFER_KHR, INVALID_SYNC_POINT_WAIT_LIST_KHR; INVALID_OPERATION when the command
 *   buffer is finalized; INVALID_KERNEL, INVALID_KERNEL_ARGS, INVALID_WORK_GROUP_SIZE, and the others of
 *   `enqueueNDRangeKernel`
 * @example
 * ```ts
 * cl.commandNDRangeKernelKHR(commandBuffer, null, null, kernel, 1, null, [1024], [256]);
 * ```
 */
export function commandNDRangeKernelKHR(
  commandBuffer: CommandBuffer,
  queue: CommandQueue | null | undefined,
  properties: Properties,
  kernel: Kernel,
  dimensions: number,
  offset: readonly Size[] | null | undefined,
  global: readonly Size[],
  local: readonly Size[] | null | undefined,
  syncPoints?: SyncPoints,
): number;
export function commandNDRangeKernelKHR(...args: readonly unknown[]): unknown {
  return native().commandNDRangeKernelKHR(...args);
}
