import { native } from './binding.js';
import type { CommandQueue, MemObject } from './objects.js';
import type { Enqueued, MappedMemory, Triple, WaitList } from './types.js';
import type { Flags, Size } from './values.js';

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
