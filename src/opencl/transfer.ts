import { native } from './binding.js';
import type { CommandQueue, Event, MemObject } from './objects.js';
import type { Enqueued, MappedMemory, Triple, WaitList } from './types.js';
import type { Flags, HostMemory, Size } from './values.js';

/**
 * Copies bytes from a buffer to host memory. Calls clEnqueueReadBuffer.
 *
 * @param queue command queue that executes the command
 * @param buffer source
 * @param blocking whether the call waits until the command has completed
 * @param offset bytes from the start of `buffer`
 * @param size bytes to copy; at most the bytes of `host`
 * @param host destination; until the command has completed it must not be detached
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE
 * @example
 * ```ts
 * const result = new Uint32Array(3);
 * cl.enqueueReadBuffer(queue, buffer, true, 0, result.byteLength, result);
 * ```
 */
export function enqueueReadBuffer<W extends boolean | undefined = false>(
  queue: CommandQueue,
  buffer: MemObject,
  blocking: boolean | number,
  offset: Size,
  size: Size,
  host: HostMemory,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueReadBuffer(queue, buffer, blocking, offset, size, host, waitList, wantEvent);
}

/**
 * Copies bytes from host memory to a buffer. Calls clEnqueueWriteBuffer.
 *
 * @param queue command queue that executes the command
 * @param buffer destination
 * @param blocking whether the call waits until the command has completed
 * @param offset bytes from the start of `buffer`
 * @param size bytes to copy; at most the bytes of `host`
 * @param host source; until the command has completed it must not change or be detached
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE
 * @example
 * ```ts
 * cl.enqueueWriteBuffer(queue, buffer, true, 0, keys.byteLength, keys);
 * ```
 */
export function enqueueWriteBuffer<W extends boolean | undefined = false>(
  queue: CommandQueue,
  buffer: MemObject,
  blocking: boolean | number,
  offset: Size,
  size: Size,
  host: HostMemory,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueWriteBuffer(queue, buffer, blocking, offset, size, host, waitList, wantEvent);
}

/**
 * Copies a rectangular region from a buffer to host memory. Calls clEnqueueReadBufferRect (OpenCL 1.1).
 *
 * @param queue command queue that executes the command
 * @param buffer source
 * @param blocking whether the call waits until the command has completed
 * @param bufferOrigin [bytes, rows, slices] in `buffer`
 * @param hostOrigin [bytes, rows, slices] in `host`
 * @param region [bytes, rows, slices] to copy
 * @param bufferRowPitch bytes between rows of `buffer`; 0 for rows without gaps
 * @param bufferSlicePitch bytes between slices of `buffer`; 0 for slices without gaps
 * @param hostRowPitch bytes between rows of `host`; 0 for rows without gaps
 * @param hostSlicePitch bytes between slices of `host`; 0 for slices without gaps
 * @param host destination; until the command has completed it must not be detached
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE
 * @example
 * ```ts
 * cl.enqueueReadBufferRect(queue, buffer, true, [0, 0, 0], [0, 0, 0], [64, 8, 1], 64, 0, 64, 0, bytes);
 * ```
 */
export function enqueueReadBufferRect<W extends boolean | undefined = false>(
  queue: CommandQueue,
  buffer: MemObject,
  blocking: boolean | number,
  bufferOrigin: Triple,
  hostOrigin: Triple,
  region: Triple,
  bufferRowPitch: Size,
  bufferSlicePitch: Size,
  hostRowPitch: Size,
  hostSlicePitch: Size,
  host: HostMemory,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueReadBufferRect(
    queue,
    buffer,
    blocking,
    bufferOrigin,
    hostOrigin,
    region,
    bufferRowPitch,
    bufferSlicePitch,
    hostRowPitch,
    hostSlicePitch,
    host,
    waitList,
    wantEvent,
  );
}

/**
 * Copies a rectangular region from host memory to a buffer. Calls clEnqueueWriteBufferRect (OpenCL 1.1).
 *
 * @param queue command queue that executes the command
 * @param buffer destination
 * @param blocking whether the call waits until the command has completed
 * @param bufferOrigin [bytes, rows, slices] in `buffer`
 * @param hostOrigin [bytes, rows, slices] in `host`
 * @param region [bytes, rows, slices] to copy
 * @param bufferRowPitch bytes between rows of `buffer`; 0 for rows without gaps
 * @param bufferSlicePitch bytes between slices of `buffer`; 0 for slices without gaps
 * @param hostRowPitch bytes between rows of `host`; 0 for rows without gaps
 * @param hostSlicePitch bytes between slices of `host`; 0 for slices without gaps
 * @param host source; until the command has completed it must not change or be detached
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE
 * @example
 * ```ts
 * cl.enqueueWriteBufferRect(queue, buffer, true, [0, 0, 0], [0, 0, 0], [64, 8, 1], 64, 0, 64, 0, bytes);
 * ```
 */
export function enqueueWriteBufferRect<W extends boolean | undefined = false>(
  queue: CommandQueue,
  buffer: MemObject,
  blocking: boolean | number,
  bufferOrigin: Triple,
  hostOrigin: Triple,
  region: Triple,
  bufferRowPitch: Size,
  bufferSlicePitch: Size,
  hostRowPitch: Size,
  hostSlicePitch: Size,
  host: HostMemory,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueWriteBufferRect(
    queue,
    buffer,
    blocking,
    bufferOrigin,
    hostOrigin,
    region,
    bufferRowPitch,
    bufferSlicePitch,
    hostRowPitch,
    hostSlicePitch,
    host,
    waitList,
    wantEvent,
  );
}

/**
 * Copies bytes between buffers on the device. Calls clEnqueueCopyBuffer.
 *
 * @param queue command queue that executes the command
 * @param from source buffer
 * @param to destination buffer
 * @param fromOffset bytes from the start of `from`
 * @param toOffset bytes from the start of `to`
 * @param size bytes to copy
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE,
 *   MEM_COPY_OVERLAP
 * @example
 * ```ts
 * cl.enqueueCopyBuffer(queue, from, to, 0, 0, 4096);
 * ```
 */
export function enqueueCopyBuffer<W extends boolean | undefined = false>(
  queue: CommandQueue,
  from: MemObject,
  to: MemObject,
  fromOffset: Size,
  toOffset: Size,
  size: Size,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueCopyBuffer(queue, from, to, fromOffset, toOffset, size, waitList, wantEvent);
}

/**
 * Copies a rectangular region between buffers on the device. Calls clEnqueueCopyBufferRect (OpenCL 1.1).
 *
 * @param queue command queue that executes the command
 * @param from source buffer
 * @param to destination buffer
 * @param fromOrigin [bytes, rows, slices] in `from`
 * @param toOrigin [bytes, rows, slices] in `to`
 * @param region [bytes, rows, slices] to copy
 * @param fromRowPitch bytes between rows of `from`; 0 for rows without gaps
 * @param fromSlicePitch bytes between slices of `from`; 0 for slices without gaps
 * @param toRowPitch bytes between rows of `to`; 0 for rows without gaps
 * @param toSlicePitch bytes between slices of `to`; 0 for slices without gaps
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE,
 *   MEM_COPY_OVERLAP
 * @example
 * ```ts
 * cl.enqueueCopyBufferRect(queue, from, to, [0, 0, 0], [0, 0, 0], [64, 8, 1], 64, 0, 64, 0);
 * ```
 */
export function enqueueCopyBufferRect<W extends boolean | undefined = false>(
  queue: CommandQueue,
  from: MemObject,
  to: MemObject,
  fromOrigin: Triple,
  toOrigin: Triple,
  region: Triple,
  fromRowPitch: Size,
  fromSlicePitch: Size,
  toRowPitch: Size,
  toSlicePitch: Size,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueCopyBufferRect(
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
    waitList,
    wantEvent,
  );
}

/**
 * Fills a buffer with a repeated pattern. Calls clEnqueueFillBuffer (OpenCL 1.2).
 *
 * @param queue command queue that executes the command
 * @param buffer buffer to fill
 * @param pattern a 32-bit integer takes 4 bytes, any other number an 8-byte double; memory is used as it is
 * @param offset bytes from the start of `buffer`; a multiple of the pattern's size
 * @param size bytes to fill; a multiple of the pattern's size
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE
 * @example
 * ```ts
 * cl.enqueueFillBuffer(queue, buffer, Uint32Array.of(0), 0, 4096);
 * ```
 */
export function enqueueFillBuffer<W extends boolean | undefined = false>(
  queue: CommandQueue,
  buffer: MemObject,
  pattern: number | HostMemory,
  offset: Size,
  size: Size,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueFillBuffer(queue, buffer, pattern, offset, size, waitList, wantEvent);
}

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
): Enqueued<W> {
  return native().enqueueReadImage(
    queue,
    image,
    blocking,
    origin,
    region,
    rowPitch,
    slicePitch,
    host,
    waitList,
    wantEvent,
  );
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
): Enqueued<W> {
  return native().enqueueWriteImage(
    queue,
    image,
    blocking,
    origin,
    region,
    rowPitch,
    slicePitch,
    host,
    waitList,
    wantEvent,
  );
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

/**
 * Maps a region of a buffer for use by the host. Calls clEnqueueMapBuffer.
 *
 * @param queue command queue that executes the command
 * @param buffer buffer to map
 * @param blocking whether the call waits until the command has completed
 * @param flags `MAP_READ`, `MAP_WRITE`, `MAP_WRITE_INVALIDATE_REGION`
 * @param offset bytes from the start of `buffer`
 * @param size bytes to map
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether the result has the property `event`; false by default
 * @returns the memory. Its contents are valid when the command has completed. It is detached when it is unmapped or
 *   when the buffer is released
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_VALUE, MAP_FAILURE, INVALID_EVENT_WAIT_LIST
 * @example
 * ```ts
 * const mapped = cl.enqueueMapBuffer(queue, buffer, true, cl.MAP_READ, 0, 12);
 * console.log(new Uint32Array(mapped));
 * cl.enqueueUnmapMemObject(queue, buffer, mapped);
 * ```
 */
export function enqueueMapBuffer(
  queue: CommandQueue,
  buffer: MemObject,
  blocking: boolean | number,
  flags: Flags,
  offset: Size,
  size: Size,
  waitList?: WaitList,
  wantEvent?: boolean,
): MappedMemory {
  return native().enqueueMapBuffer(queue, buffer, blocking, flags, offset, size, waitList, wantEvent);
}

/**
 * Maps a region of an image for use by the host. Calls clEnqueueMapImage.
 *
 * @param queue command queue that executes the command
 * @param image image to map
 * @param blocking whether the call waits until the command has completed
 * @param flags `MAP_READ`, `MAP_WRITE`, `MAP_WRITE_INVALIDATE_REGION`
 * @param origin [x, y, z] in pixels
 * @param region [width, height, depth] in pixels
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether the result has the property `event`; false by default
 * @returns the memory as of `enqueueMapBuffer`, with `row_pitch` and `slice_pitch` in bytes
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_VALUE, MAP_FAILURE, INVALID_EVENT_WAIT_LIST
 * @example
 * ```ts
 * const mapped = cl.enqueueMapImage(queue, image, true, cl.MAP_READ, [0, 0, 0], [8, 8, 1]);
 * ```
 */
export function enqueueMapImage(
  queue: CommandQueue,
  image: MemObject,
  blocking: boolean | number,
  flags: Flags,
  origin: Triple,
  region: Triple,
  waitList?: WaitList,
  wantEvent?: boolean,
): MappedMemory {
  return native().enqueueMapImage(queue, image, blocking, flags, origin, region, waitList, wantEvent);
}

/**
 * Unmaps memory; the ArrayBuffer is detached at once. Calls clEnqueueUnmapMemObject, which waits for the commands of
 * the context, on any queue, that use the memory as their host side.
 *
 * @param queue command queue that executes the command
 * @param memory mapped buffer or image
 * @param mapped result of the map call, a view of it, or the ArrayBuffer that its memory was transferred to
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT; INVALID_VALUE for memory that is not mapped;
 *   INVALID_OPERATION while the memory is used by something that a command cannot wait for: a transfer or checksum
 *   whose promise has not settled, a memory object over it, a command of another context, or an ArrayBuffer that it was
 *   transferred to
 * @example
 * ```ts
 * cl.enqueueUnmapMemObject(queue, buffer, mapped);
 * ```
 */
export function enqueueUnmapMemObject<W extends boolean | undefined = false>(
  queue: CommandQueue,
  memory: MemObject,
  mapped: HostMemory,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueUnmapMemObject(queue, memory, mapped, waitList, wantEvent);
}

/**
 * Migrates memory objects to the device of the queue before their use. Calls clEnqueueMigrateMemObjects (OpenCL 1.2).
 *
 * @param queue command queue that executes the command
 * @param objects memory objects to migrate
 * @param flags `MIGRATE_MEM_OBJECT_HOST`, `MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED`
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE
 * @example
 * ```ts
 * cl.enqueueMigrateMemObjects(queue, [buffer], cl.MIGRATE_MEM_OBJECT_HOST);
 * ```
 */
export function enqueueMigrateMemObjects<W extends boolean | undefined = false>(
  queue: CommandQueue,
  objects: readonly MemObject[],
  flags: Flags,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueMigrateMemObjects(queue, objects, flags, waitList, wantEvent);
}

/**
 * Enqueues a marker, which completes when the events of its wait list have completed; without a wait list, when all
 * earlier commands have. Calls clEnqueueMarkerWithWaitList (OpenCL 1.2).
 *
 * @param queue command queue that executes the command
 * @param waitList events to wait for; null or omitted for all earlier commands
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_EVENT_WAIT_LIST
 * @example
 * ```ts
 * const reached = cl.enqueueMarkerWithWaitList(queue, null, true);
 * ```
 */
export function enqueueMarkerWithWaitList<W extends boolean | undefined = false>(
  queue: CommandQueue,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueMarkerWithWaitList(queue, waitList, wantEvent);
}

/**
 * Enqueues a barrier: a marker that later commands wait for. Calls clEnqueueBarrierWithWaitList (OpenCL 1.2).
 *
 * @param queue command queue that executes the command
 * @param waitList events to wait for; null or omitted for all earlier commands
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_EVENT_WAIT_LIST
 * @example
 * ```ts
 * cl.enqueueBarrierWithWaitList(queue, [event]);
 * ```
 */
export function enqueueBarrierWithWaitList<W extends boolean | undefined = false>(
  queue: CommandQueue,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueBarrierWithWaitList(queue, waitList, wantEvent);
}

/**
 * Enqueues a marker after all earlier commands. Calls clEnqueueMarker, which OpenCL 1.2 replaced by
 * `enqueueMarkerWithWaitList`.
 *
 * @param queue command queue that executes the command
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE
 * @example
 * ```ts
 * const reached = cl.enqueueMarker(queue, true);
 * ```
 */
export function enqueueMarker<W extends boolean | undefined = false>(
  queue: CommandQueue,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueMarker(queue, wantEvent);
}

/**
 * Enqueues a barrier after all earlier commands. Calls clEnqueueBarrier, which OpenCL 1.2 replaced by
 * `enqueueBarrierWithWaitList`.
 *
 * @param queue command queue that executes the command
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE
 * @example
 * ```ts
 * cl.enqueueBarrier(queue);
 * ```
 */
export function enqueueBarrier(queue: CommandQueue): 0 {
  return native().enqueueBarrier(queue);
}

/**
 * Makes later commands wait for events. Calls clEnqueueWaitForEvents, which OpenCL 1.2 replaced by
 * `enqueueBarrierWithWaitList`.
 *
 * @param queue command queue that executes the command
 * @param events events to wait for
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_EVENT
 * @example
 * ```ts
 * cl.enqueueWaitForEvents(queue, [event]);
 * ```
 */
export function enqueueWaitForEvents(queue: CommandQueue, events: readonly Event[]): 0 {
  return native().enqueueWaitForEvents(queue, events);
}
