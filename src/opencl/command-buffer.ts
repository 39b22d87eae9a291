import { native } from './binding.js';
import type { CommandBuffer, CommandQueue, Kernel, MemObject } from './objects.js';
import type { Enqueued, HostMemory, InfoValue, Properties, Size, Triple, WaitList } from './types.js';

// cl_khr_command_buffer, versions 0.9.0 to 0.9.4: commands that are recorded once and executed many times. From 0.9.5
// on its functions have other arguments, and UnsupportedError says so. A command buffer is of one queue.
//
// It keeps what its commands use, whatever becomes of the handles: kernels with the arguments that they had when they
// were recorded, buffers and images. Shared virtual memory has to be there still when it is executed.

/** Sync points of commands of the same command buffer that have to be done first. */
type SyncPoints = readonly number[] | null;

/**
 * A command buffer, which records commands from now on. Calls clCreateCommandBufferKHR.
 *
 * @param queues one queue
 * @param properties such as `[COMMAND_BUFFER_FLAGS_KHR, COMMAND_BUFFER_SIMULTANEOUS_USE_KHR]`
 * @throws INVALID_COMMAND_QUEUE, INVALID_VALUE, INCOMPATIBLE_COMMAND_QUEUE_KHR; UnsupportedError where the device lacks
 *   the extension or has another version of it
 */
export function createCommandBufferKHR(
  queues: readonly CommandQueue[],
  properties?: Properties,
): CommandBuffer {
  return native().createCommandBufferKHR(queues, properties);
}

/**
 * Ends the recording: it can be executed from now on. Calls clFinalizeCommandBufferKHR.
 *
 * @throws INVALID_COMMAND_BUFFER_KHR, INVALID_OPERATION for one that is finalized already
 */
export function finalizeCommandBufferKHR(commandBuffer: CommandBuffer): 0 {
  return native().finalizeCommandBufferKHR(commandBuffer);
}

/**
 * Adds a reference. There is no call: references are counted here.
 *
 * @throws INVALID_COMMAND_BUFFER_KHR
 */
export function retainCommandBufferKHR(commandBuffer: CommandBuffer): 0 {
  return native().retainCommandBufferKHR(commandBuffer);
}

/**
 * Gives a reference back. With the last one the driver is told by clReleaseCommandBufferKHR, once no queue executes
 * the command buffer any more.
 *
 * @throws INVALID_COMMAND_BUFFER_KHR, also for one that is released already
 */
export function releaseCommandBufferKHR(commandBuffer: CommandBuffer): 0 {
  return native().releaseCommandBufferKHR(commandBuffer);
}

/**
 * Has a queue execute the commands. Calls clEnqueueCommandBufferKHR.
 *
 * @param queues an array of one queue that is like the recorded one, or null for that
 * @param waitList events that have to complete first
 * @param wantEvent return an event for the whole of it
 * @throws INVALID_COMMAND_BUFFER_KHR, INVALID_OPERATION for one that is not finalized, or still executed and not made
 *   with `COMMAND_BUFFER_SIMULTANEOUS_USE_KHR`, INVALID_COMMAND_QUEUE, INVALID_KERNEL_ARGS when shared virtual memory of
 *   a kernel was freed, INVALID_EVENT_WAIT_LIST
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
 * A fact about a command buffer. Calls clGetCommandBufferInfoKHR.
 *
 * @param name `COMMAND_BUFFER_STATE_KHR`, `COMMAND_BUFFER_QUEUES_KHR`, …
 * @throws INVALID_COMMAND_BUFFER_KHR, INVALID_VALUE
 */
export function getCommandBufferInfoKHR(commandBuffer: CommandBuffer, name: number): InfoValue {
  return native().getCommandBufferInfoKHR(commandBuffer, name);
}

/**
 * Records a barrier: for the commands of the sync points, or for all before it. Calls clCommandBarrierWithWaitListKHR.
 *
 * @returns the command's sync point
 * @throws INVALID_COMMAND_BUFFER_KHR, INVALID_OPERATION once it is finalized, INVALID_SYNC_POINT_WAIT_LIST_KHR,
 *   INVALID_COMMAND_QUEUE
 */
export function commandBarrierWithWaitListKHR(
  commandBuffer: CommandBuffer,
  queue: CommandQueue | null | undefined,
  syncPoints?: SyncPoints,
): number {
  return native().commandBarrierWithWaitListKHR(commandBuffer, queue, syncPoints);
}

/**
 * Records a copy of bytes. Calls clCommandCopyBufferKHR.
 *
 * @returns the command's sync point
 * @throws INVALID_COMMAND_BUFFER_KHR, INVALID_OPERATION once it is finalized, INVALID_SYNC_POINT_WAIT_LIST_KHR,
 *   INVALID_MEM_OBJECT, INVALID_VALUE, MEM_COPY_OVERLAP
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
 * Records a copy of a box of bytes; pitches in bytes, 0 for none between. Calls clCommandCopyBufferRectKHR.
 *
 * @returns the command's sync point
 * @throws INVALID_COMMAND_BUFFER_KHR, INVALID_OPERATION once it is finalized, INVALID_SYNC_POINT_WAIT_LIST_KHR,
 *   INVALID_MEM_OBJECT, INVALID_VALUE, MEM_COPY_OVERLAP
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
 * @returns the command's sync point
 * @throws INVALID_COMMAND_BUFFER_KHR, INVALID_OPERATION once it is finalized, INVALID_SYNC_POINT_WAIT_LIST_KHR,
 *   INVALID_MEM_OBJECT, INVALID_VALUE
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
 * Records a copy of pixels. Calls clCommandCopyImageKHR.
 *
 * @returns the command's sync point
 * @throws INVALID_COMMAND_BUFFER_KHR, INVALID_OPERATION once it is finalized, INVALID_SYNC_POINT_WAIT_LIST_KHR,
 *   INVALID_MEM_OBJECT, INVALID_VALUE, MEM_COPY_OVERLAP, IMAGE_FORMAT_MISMATCH
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
 * @returns the command's sync point
 * @throws INVALID_COMMAND_BUFFER_KHR, INVALID_OPERATION once it is finalized, INVALID_SYNC_POINT_WAIT_LIST_KHR,
 *   INVALID_MEM_OBJECT, INVALID_VALUE
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
 * Records a fill with a pattern: an integer is 4 bytes, a fraction 8, memory what it is. Calls clCommandFillBufferKHR.
 *
 * @returns the command's sync point
 * @throws INVALID_COMMAND_BUFFER_KHR, INVALID_OPERATION once it is finalized, INVALID_SYNC_POINT_WAIT_LIST_KHR,
 *   INVALID_MEM_OBJECT, INVALID_VALUE
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
 * Records a fill with a colour: four numbers, or 16 bytes. Calls clCommandFillImageKHR.
 *
 * @returns the command's sync point
 * @throws INVALID_COMMAND_BUFFER_KHR, INVALID_OPERATION once it is finalized, INVALID_SYNC_POINT_WAIT_LIST_KHR,
 *   INVALID_MEM_OBJECT, INVALID_VALUE
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
 * Records a launch, with the arguments that the kernel has now. Calls clCommandNDRangeKernelKHR.
 *
 * @returns the command's sync point
 * @throws INVALID_COMMAND_BUFFER_KHR, INVALID_OPERATION once it is finalized, INVALID_SYNC_POINT_WAIT_LIST_KHR,
 *   INVALID_KERNEL, INVALID_KERNEL_ARGS, INVALID_WORK_GROUP_SIZE and others as `enqueueNDRangeKernel`
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
