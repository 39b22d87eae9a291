import { native } from './binding.js';
import type { CommandQueue, MemObject } from './objects.js';
import type { Enqueued, Triple, WaitList } from './types.js';
import type { HostMemory, Size } from './values.js';

/**
 * Copies a region of an image to host memory. Calls clEnqueueReadImage.
 *
 * @param queue command queue that executes the command
 * @param image source
 * @param blocking whether the call waits until the command has completed
 * @param origin [x, y, z] in pixels
 * @param region [width, height, depth] in pixels
 * @param rowPitch bytes between rows of `host`; 0 for rows without gaps
 * @param slicePitch bytes between slices of `host`; 0 for slices without gaps
 * @param host destination; until the command has completed it must not be detached
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE,
 *   INVALID_IMAGE_SIZE
 * @example
 * ```ts
 * cl.enqueueReadImage(queue, image, true, [0, 0, 0], [8, 8, 1], 0, 0, pixels);
 * ```
 */
export function enqueueReadImage<W extends boolean | undefined = false>(
  queue: CommandQueue,
  image: MemObject,
  blocking: boolean | number,
  origin: Triple,
  region: Triple,
  rowPitch: Size,
  slicePitch: Size,
  host: HostMemory,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W>;
export function enqueueReadImage(...args: readonly unknown[]): unknown {
  return native().enqueueReadImage(...args);
}

/**
 * Copies host memory to a region of an image. Calls clEnqueueWriteImage.
 *
 * @param queue command queue that executes the command
 * @param image destination
 * @param blocking whether the call waits until the command has completed
 * @param origin [x, y, z] in pixels
 * @param region [width, height, depth] in pixels
 * @param rowPitch bytes between rows of `host`; 0 for rows without gaps
 * @param slicePitch bytes between slices of `host`; 0 for slices without gaps
 * @param host source; until the command has completed it must not change or be detached
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE,
 *   INVALID_IMAGE_SIZE
 * @example
 * ```ts
 * cl.enqueueWriteImage(queue, image, true, [0, 0, 0], [8, 8, 1], 0, 0, pixels);
 * ```
 */
export function enqueueWriteImage<W extends boolean | undefined = false>(
  queue: CommandQueue,
  image: MemObject,
  blocking: boolean | number,
  origin: Triple,
  region: Triple,
  rowPitch: Size,
  slicePitch: Size,
  host: HostMemory,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W>;
export function enqueueWriteImage(...args: readonly unknown[]): unknown {
  return native().enqueueWriteImage(...args);
}

/**
 * Fills a region of an image with a colour. Calls clEnqueueFillImage (OpenCL 1.2).
 *
 * @param queue command queue that executes the command
 * @param image image to fill
 * @param color four numbers, or 16 bytes (four floats, ints or uints, depending on the format)
 * @param origin [x, y, z] in pixels
 * @param region [width, height, depth] in pixels
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE
 * @example
 * ```ts
 * cl.enqueueFillImage(queue, image, Float32Array.of(0, 0, 0, 1), [0, 0, 0], [8, 8, 1]);
 * ```
 */
export function enqueueFillImage<W extends boolean | undefined = false>(
  queue: CommandQueue,
  image: MemObject,
  color: HostMemory | readonly number[],
  origin: Triple,
  region: Triple,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueFillImage(queue, image, color, origin, region, waitList, wantEvent);
}

/**
 * Copies a region between images of the same format. Calls clEnqueueCopyImage.
 *
 * @param queue command queue that executes the command
 * @param from source image
 * @param to destination image
 * @param fromOrigin [x, y, z] in `from`, in pixels
 * @param toOrigin [x, y, z] in `to`, in pixels
 * @param region [width, height, depth] in pixels
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE,
 *   IMAGE_FORMAT_MISMATCH, MEM_COPY_OVERLAP
 * @example
 * ```ts
 * cl.enqueueCopyImage(queue, from, to, [0, 0, 0], [0, 0, 0], [8, 8, 1]);
 * ```
 */
export function enqueueCopyImage<W extends boolean | undefined = false>(
  queue: CommandQueue,
  from: MemObject,
  to: MemObject,
  fromOrigin: Triple,
  toOrigin: Triple,
  region: Triple,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueCopyImage(queue, from, to, fromOrigin, toOrigin, region, waitList, wantEvent);
}

/**
 * Copies a region of an image to a buffer. Calls clEnqueueCopyImageToBuffer.
 *
 * @param queue command queue that executes the command
 * @param image source image
 * @param buffer destination buffer
 * @param origin [x, y, z] in `image`, in pixels
 * @param region [width, height, depth] in pixels
 * @param offset bytes from the start of `buffer`
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE
 * @example
 * ```ts
 * cl.enqueueCopyImageToBuffer(queue, image, buffer, [0, 0, 0], [8, 8, 1], 0);
 * ```
 */
export function enqueueCopyImageToBuffer<W extends boolean | undefined = false>(
  queue: CommandQueue,
  image: MemObject,
  buffer: MemObject,
  origin: Triple,
  region: Triple,
  offset: Size,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueCopyImageToBuffer(queue, image, buffer, origin, region, offset, waitList, wantEvent);
}

/**
 * Copies a buffer to a region of an image. Calls clEnqueueCopyBufferToImage.
 *
 * @param queue command queue that executes the command
 * @param buffer source buffer
 * @param image destination image
 * @param offset bytes from the start of `buffer`
 * @param origin [x, y, z] in `image`, in pixels
 * @param region [width, height, depth] in pixels
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE
 * @example
 * ```ts
 * cl.enqueueCopyBufferToImage(queue, buffer, image, 0, [0, 0, 0], [8, 8, 1]);
 * ```
 */
export function enqueueCopyBufferToImage<W extends boolean | undefined = false>(
  queue: CommandQueue,
  buffer: MemObject,
  image: MemObject,
  offset: Size,
  origin: Triple,
  region: Triple,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueCopyBufferToImage(queue, buffer, image, offset, origin, region, waitList, wantEvent);
}
