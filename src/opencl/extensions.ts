import { native } from './binding.js';
import type { CommandQueue, MemObject, Platform } from './objects.js';
import type { Enqueued, WaitList } from './types.js';

/**
 * Returns the C names of the extension functions that the binding has and a device of the platform supports. Other
 * extension functions throw an UnsupportedError with the reason.
 *
 * @param platform platform to query
 * @returns such as `['clCreateCommandBufferKHR', …]`
 * @throws OpenCLError INVALID_PLATFORM
 * @example
 * ```ts
 * const names = cl.getExtensionFunctions(platform);
 * ```
 */
export function getExtensionFunctions(platform: Platform): string[] {
  return native().getExtensionFunctions(platform);
}

/**
 * Acquires memory of another API for use by OpenCL. Calls clEnqueueAcquireExternalMemObjectsKHR
 * (cl_khr_external_memory).
 *
 * `createBufferWithProperties` and `createImageWithProperties` make a memory object of such memory: its handle is one
 * of the properties, such as `[EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR, fd]`.
 *
 * @param queue command queue that executes the command
 * @param memory one or more memory objects that were created from external memory
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_VALUE without memory
 * @throws UnsupportedError when the device lacks the extension
 * @example
 * ```ts
 * cl.enqueueAcquireExternalMemObjectsKHR(queue, [buffer]);
 * ```
 */
export function enqueueAcquireExternalMemObjectsKHR<W extends boolean | undefined = false>(
  queue: CommandQueue,
  memory: readonly MemObject[],
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueAcquireExternalMemObjectsKHR(queue, memory, waitList, wantEvent);
}

/**
 * Returns acquired memory to the other API. Calls clEnqueueReleaseExternalMemObjectsKHR (cl_khr_external_memory).
 *
 * @param queue command queue that executes the command
 * @param memory one or more memory objects that were acquired
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_VALUE without memory
 * @throws UnsupportedError when the device lacks the extension
 * @example
 * ```ts
 * cl.enqueueReleaseExternalMemObjectsKHR(queue, [buffer]);
 * ```
 */
export function enqueueReleaseExternalMemObjectsKHR<W extends boolean | undefined = false>(
  queue: CommandQueue,
  memory: readonly MemObject[],
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueReleaseExternalMemObjectsKHR(queue, memory, waitList, wantEvent);
}
