import { native } from './binding.js';
import type { CommandQueue, Event, MemObject } from './objects.js';
import type { Enqueued, Flags, HostMemory, MappedMemory, Size, Triple, WaitList } from './types.js';

/**
 * Device to host. Calls clEnqueueReadBuffer.
 *
 * @param blocking wait for it; otherwise `host` stays in place and cannot be detached until it is done
 * @param offset bytes from the buffer's start
 * @param size bytes, at most those of `host`
 * @throws INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @returns the event, or SUCCESS when none is wanted
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
 * Host to device. Calls clEnqueueWriteBuffer.
 *
 * @param blocking wait for it; otherwise `host` must not change, and cannot be detached, until it is done
 * @param offset bytes from the buffer's start
 * @param size bytes, at most those of `host`
 * @throws INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @returns the event, or SUCCESS when none is wanted
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
 * A box from device to host. Calls clEnqueueReadBufferRect (OpenCL 1.1).
 *
 * @param region [bytes, rows, slices]; origins alike, pitches in bytes with 0 for "no gap"
 * @throws INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @returns the event, or SUCCESS when none is wanted
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
 * A box from host to device. Calls clEnqueueWriteBufferRect (OpenCL 1.1).
 *
 * @param region [bytes, rows, slices]; origins alike, pitches in bytes with 0 for "no gap"
 * @throws INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @returns the event, or SUCCESS when none is wanted
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
 * Copies on the device. Calls clEnqueueCopyBuffer.
 *
 * @param size bytes; offsets alike
 * @throws INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE, MEM_COPY_OVERLAP
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @returns the event, or SUCCESS when none is wanted
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
 * Copies a box on the device. Calls clEnqueueCopyBufferRect (OpenCL 1.1).
 *
 * @param region [bytes, rows, slices]; origins alike, pitches in bytes
 * @throws INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE, MEM_COPY_OVERLAP
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @returns the event, or SUCCESS when none is wanted
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
 * Repeats a pattern over a buffer. Calls clEnqueueFillBuffer (OpenCL 1.2).
 *
 * @param pattern an integer of 32 bits is 4 bytes, any other number an 8-byte double, memory what it is
 * @param offset bytes; a multiple of the pattern, as `size`
 * @throws INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @returns the event, or SUCCESS when none is wanted
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
 * Part of an image to host memory. Calls clEnqueueReadImage.
 *
 * @param region pixels; pitches are of the host memory, in bytes
 * @throws INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE, INVALID_IMAGE_SIZE
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @returns the event, or SUCCESS when none is wanted
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
 * Host memory to part of an image. Calls clEnqueueWriteImage.
 *
 * @param region pixels; pitches are of the host memory, in bytes
 * @throws INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE, INVALID_IMAGE_SIZE
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @returns the event, or SUCCESS when none is wanted
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
 * Fills part of an image with a colour. Calls clEnqueueFillImage (OpenCL 1.2).
 *
 * @param color 16 bytes (four floats, ints or uints, as the format wants), or four numbers
 * @throws INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @returns the event, or SUCCESS when none is wanted
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
 * Copies between images of one format. Calls clEnqueueCopyImage.
 *
 * @param region pixels
 * @throws INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE, IMAGE_FORMAT_MISMATCH, MEM_COPY_OVERLAP
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @returns the event, or SUCCESS when none is wanted
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
 * Part of an image to a buffer. Calls clEnqueueCopyImageToBuffer.
 *
 * @param offset bytes in the buffer
 * @throws INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @returns the event, or SUCCESS when none is wanted
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
 * A buffer to part of an image. Calls clEnqueueCopyBufferToImage.
 *
 * @param offset bytes in the buffer
 * @throws INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @returns the event, or SUCCESS when none is wanted
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
 * Maps part of a buffer. Calls clEnqueueMapBuffer.
 *
 * @param flags `MAP_READ`, `MAP_WRITE`, `MAP_WRITE_INVALIDATE_REGION`
 * @param offset bytes; `size` alike
 * @returns the memory, with `.event` if one is wanted; its contents are valid once the command is done, and
 *   it is detached when unmapped or when the buffer is released
 * @throws INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_VALUE, MAP_FAILURE, INVALID_EVENT_WAIT_LIST
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
 * Maps part of an image. Calls clEnqueueMapImage.
 *
 * @param region pixels
 * @returns as `enqueueMapBuffer`, with `row_pitch` and `slice_pitch` in bytes
 * @throws INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_VALUE, MAP_FAILURE, INVALID_EVENT_WAIT_LIST
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
 * Ends a mapping; the ArrayBuffer is detached at once. Calls clEnqueueUnmapMemObject, which waits for the commands of
 * its context that use the memory as their host side, on whatever queue.
 *
 * @param mapped what the map call returned, a view of it, or the ArrayBuffer that its memory was transferred to
 * @throws INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_VALUE for memory that is not mapped; INVALID_OPERATION
 *   while the memory is used by what no command can wait for: a transfer or checksum whose promise has not settled, a
 *   memory object that lives in it, a command of another context, or an ArrayBuffer that it was transferred to
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @returns the event, or SUCCESS when none is wanted
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
 * Moves objects to the queue's device ahead of their use. Calls clEnqueueMigrateMemObjects (OpenCL 1.2).
 *
 * @param flags `MIGRATE_MEM_OBJECT_HOST`, `MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED`
 * @throws INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_EVENT_WAIT_LIST, INVALID_VALUE
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @returns the event, or SUCCESS when none is wanted
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
 * A command that completes with those it waits for, by default all before it. Calls
 * clEnqueueMarkerWithWaitList (OpenCL 1.2).
 *
 * @throws INVALID_COMMAND_QUEUE, INVALID_EVENT_WAIT_LIST
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @returns the event, or SUCCESS when none is wanted
 */
export function enqueueMarkerWithWaitList<W extends boolean | undefined = false>(
  queue: CommandQueue,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueMarkerWithWaitList(queue, waitList, wantEvent);
}

/**
 * A marker that later commands wait for. Calls clEnqueueBarrierWithWaitList (OpenCL 1.2).
 *
 * @throws INVALID_COMMAND_QUEUE, INVALID_EVENT_WAIT_LIST
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @returns the event, or SUCCESS when none is wanted
 */
export function enqueueBarrierWithWaitList<W extends boolean | undefined = false>(
  queue: CommandQueue,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueBarrierWithWaitList(queue, waitList, wantEvent);
}

/**
 * A marker. Calls clEnqueueMarker, which OpenCL 1.2 replaced by `enqueueMarkerWithWaitList`.
 *
 * @throws INVALID_COMMAND_QUEUE
 */
export function enqueueMarker<W extends boolean | undefined = false>(
  queue: CommandQueue,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueMarker(queue, wantEvent);
}

/**
 * A barrier. Calls clEnqueueBarrier, which OpenCL 1.2 replaced by `enqueueBarrierWithWaitList`.
 *
 * @throws INVALID_COMMAND_QUEUE
 */
export function enqueueBarrier(queue: CommandQueue): 0 {
  return native().enqueueBarrier(queue);
}

/**
 * Has later commands wait for events. Calls clEnqueueWaitForEvents, which OpenCL 1.2 replaced by
 * `enqueueBarrierWithWaitList`.
 *
 * @throws INVALID_COMMAND_QUEUE, INVALID_EVENT
 */
export function enqueueWaitForEvents(queue: CommandQueue, events: readonly Event[]): 0 {
  return native().enqueueWaitForEvents(queue, events);
}
