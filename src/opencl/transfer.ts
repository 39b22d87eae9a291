import { native } from './binding.js';
import type { CommandQueue, MemObject } from './objects.js';
import type { Enqueued, Triple, WaitList } from './types.js';
import type { HostMemory, Size } from './values.js';

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
): Enqueued<W>;
export function enqueueReadBufferRect(...args: readonly unknown[]): unknown {
  return native().enqueueReadBufferRect(...args);
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
): Enqueued<W>;
export function enqueueWriteBufferRect(...args: readonly unknown[]): unknown {
  return native().enqueueWriteBufferRect(...args);
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
): Enqueued<W>;
export function enqueueCopyBufferRect(...args: readonly unknown[]): unknown {
  return native().enqueueCopyBufferRect(...args);
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
