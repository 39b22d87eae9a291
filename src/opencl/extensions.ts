import { native } from './binding.js';
import type { CommandQueue, MemObject, Platform } from './objects.js';
import type { Enqueued, WaitList } from './types.js';

/**
 * The functions of extensions that this binding has and that can be called on a device of the platform, by their
 * names in C. What is not among them throws UnsupportedError, which says why.
 *
 * @returns such as `['clCreateCommandBufferKHR', …]`
 * @throws INVALID_PLATFORM
 */
export function getExtensionFunctions(platform: Platform): string[] {
  return native().getExtensionFunctions(platform);
}

/**
 * Tells the driver that memory of another API is ours to use from now on. Such memory is made a memory object by
 * `createBufferWithProperties` or `createImageWithProperties` with its handle among the properties, such as
 * `[EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR, fd]`. Calls clEnqueueAcquireExternalMemObjectsKHR (cl_khr_external_memory).
 *
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @throws INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_VALUE without memory; UnsupportedError where the device
 *   lacks the extension
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
 * Gives the memory back to the other API. Calls clEnqueueReleaseExternalMemObjectsKHR (cl_khr_external_memory).
 *
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @throws as `enqueueAcquireExternalMemObjectsKHR`
 */
export function enqueueReleaseExternalMemObjectsKHR<W extends boolean | undefined = false>(
  queue: CommandQueue,
  memory: readonly MemObject[],
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueReleaseExternalMemObjectsKHR(queue, memory, waitList, wantEvent);
}
