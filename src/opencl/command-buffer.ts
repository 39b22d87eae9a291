import { native } from './binding.js';
import type { CommandBuffer, CommandQueue, Kernel, MemObject } from './objects.js';
import type { Enqueued, Properties, Triple, WaitList } from './types.js';
import type { HostMemory, InfoValue, Size } from './values.js';

// cl_khr_command_buffer, versions 0.9.0 to 0.9.4: commands are recorded once and executed many times. Version 0.9.5
// changed the arguments of its functions; for that version or later the binding throws UnsupportedError. A command
// buffer belongs to one queue.
//
// A command buffer keeps the objects that its commands use alive, even if their handles are released: buffers, images,
// and kernels with the arguments that they had when they were recorded. Shared virtual memory must still be allocated
// when the command buffer executes.

/** Sync points of commands in the same command buffer that must complete first; null or omitted for none. */
type SyncPoints = readonly number[] | null;

/**
 * Creates a command buffer in the recording state. Calls clCreateCommandBufferKHR.
 *
 * @param queues array of exactly one queue
 * @param properties such as `[COMMAND_BUFFER_FLAGS_KHR, COMMAND_BUFFER_SIMULTANEOUS_USE_KHR]`; the final 0 is added
 * @returns the command buffer
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_VALUE, INCOMPATIBLE_COMMAND_QUEUE_KHR
 * @throws UnsupportedError when the device lacks the extension or has another version of it
 * @example
 * ```ts
 * const commands = cl.createCommandBufferKHR([queue]);
 * cl.commandNDRangeKernelKHR(commands, null, null, kernel, 1, null, [1024], null);
 * cl.finalizeCommandBufferKHR(commands);
 * cl.enqueueCommandBufferKHR(null, commands);
 * ```
 */
export function createCommandBufferKHR(
  queues: readonly CommandQueue[],
  properties?: Properties,
): CommandBuffer {
  return native().createCommandBufferKHR(queues, properties);
}

/**
 * Ends the recording; the command buffer can then be executed. Calls clFinalizeCommandBufferKHR.
 *
 * @param commandBuffer command buffer in the recording state
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_BUFFER_KHR; INVALID_OPERATION when it is already finalized
 * @example
 * ```ts
 * cl.finalizeCommandBufferKHR(commandBuffer);
 * ```
 */
export function finalizeCommandBufferKHR(commandBuffer: CommandBuffer): 0 {
  return native().finalizeCommandBufferKHR(commandBuffer);
}

/**
 * Adds a reference to the handle. The binding counts these references itself; it calls no OpenCL function.
 *
 * @param commandBuffer command buffer to retain
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_BUFFER_KHR
 * @example
 * ```ts
 * cl.retainCommandBufferKHR(commandBuffer);
 * ```
 */
export function retainCommandBufferKHR(commandBuffer: CommandBuffer): 0 {
  return native().retainCommandBufferKHR(commandBuffer);
}

/**
 * Removes a reference from the handle. After the last one, clReleaseCommandBufferKHR is called as soon as no queue
 * executes the command buffer any more.
 *
 * @param commandBuffer command buffer to release
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_BUFFER_KHR, also when it is already released
 * @example
 * ```ts
 * cl.releaseCommandBufferKHR(commandBuffer);
 * ```
 */
export function releaseCommandBufferKHR(commandBuffer: CommandBuffer): 0 {
  return native().releaseCommandBufferKHR(commandBuffer);
}

/**
 * Enqueues the recorded commands for execution. Calls clEnqueueCommandBufferKHR.
 *
 * @param queues array of one queue that is compatible with the recorded queue, or null for the recorded queue
 * @param commandBuffer finalized command buffer
 * @param waitList events that must complete before the first command starts; null or omitted for none
 * @param wantEvent whether to return an event for the whole execution; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_BUFFER_KHR, INVALID_COMMAND_QUEUE, INVALID_EVENT_WAIT_LIST; INVALID_OPERATION
 *   when the command buffer is not finalized, or is still executing and was created without
 *   `COMMAND_BUFFER_SIMULTANEOUS_USE_KHR`; INVALID_KERNEL_ARGS when shared virtual memory of a kernel was freed
 * @example
 * ```ts
 * cl.enqueueCommandBufferKHR(null, commandBuffer); // on the queue that recorded it
 * ```
 */
export function enqueueCommandBufferKHR<W extends boolean | undefined = false>(
  queues: readonly CommandQueue[] | null | undefined,
  commandBuffer: CommandBuffer,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueCommandBufferKHR(queues, commandBuffer, waitList, wantEvent);
}

/**
 * Returns information about a command buffer. Calls clGetCommandBufferInfoKHR.
 *
 * @param commandBuffer command buffer to query
 * @param name `COMMAND_BUFFER_STATE_KHR`, `COMMAND_BUFFER_QUEUES_KHR`, …
 * @returns the value, whose type depends on `name`
 * @throws OpenCLError INVALID_COMMAND_BUFFER_KHR, INVALID_VALUE
 * @example
 * ```ts
 * const queues = cl.getCommandBufferInfoKHR(commandBuffer, cl.COMMAND_BUFFER_NUM_QUEUES_KHR);
 * ```
 */
export function getCommandBufferInfoKHR(commandBuffer: CommandBuffer, name: number): InfoValue {
  return native().getCommandBufferInfoKHR(commandBuffer, name);
}

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
): number {
  return native().commandCopyBufferKHR(
    commandBuffer,
    queue,
    from,
    to,
    fromOffset,
    toOffset,
    size,
    syncPoints,
  );
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
): number {
  return native().commandCopyBufferRectKHR(
    commandBuffer,
    queue,
    from,
    to,
    fromOrigin,
    toOrigin,
    region,
    fromRowPitch,
    fromSlicePitch,
    toRowPitch,
    toSlicePitch,
    syncPoints,
  );
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
): number {
  return native().commandCopyBufferToImageKHR(
    commandBuffer,
    queue,
    buffer,
    image,
    offset,
    origin,
    region,
    syncPoints,
  );
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
): number {
  return native().commandCopyImageKHR(
    commandBuffer,
    queue,
    from,
    to,
    fromOrigin,
    toOrigin,
    region,
    syncPoints,
  );
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
): number {
  return native().commandCopyImageToBufferKHR(
    commandBuffer,
    queue,
    image,
    buffer,
    origin,
    region,
    offset,
    syncPoints,
  );
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
): number {
  return native().commandNDRangeKernelKHR(
    commandBuffer,
    queue,
    properties,
    kernel,
    dimensions,
    offset,
    global,
    local,
    syncPoints,
  );
}
