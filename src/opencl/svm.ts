import { native } from './binding.js';
import type { CommandQueue, Context } from './objects.js';
import type { Enqueued, Flags, HostMemory, Size, WaitList } from './types.js';

/**
 * Shared virtual memory. Calls clSVMAlloc (OpenCL 2.0). It lives until it is freed, `releaseAll` is called or
 * this environment ends, and then until the commands are done that may use it; garbage collection does not free it,
 * since kernels may hold its address.
 *
 * @param flags `MEM_READ_WRITE`, …, with `MEM_SVM_FINE_GRAIN_BUFFER` and `MEM_SVM_ATOMICS` where the device has them
 * @param size bytes
 * @param alignment bytes; 0 for that of the largest type
 * @returns the memory, detached when it is freed
 * @throws INVALID_CONTEXT, INVALID_VALUE when the driver gives none; UnsupportedError where no device has any
 */
export function SVMAlloc(context: Context, flags: Flags, size: Size, alignment?: number | null): ArrayBuffer {
  return native().SVMAlloc(context, flags, size, alignment);
}

/**
 * Frees memory of `SVMAlloc` and detaches it; does nothing for other memory. Calls clSVMFree (OpenCL 2.0), once all is
 * done that the queues of its context were given before, and no transfer, checksum or memory object uses it any
 * more. Whatever those do is not disturbed; a kernel that still has it as an argument is not launched again.
 *
 * @throws INVALID_CONTEXT
 */
export function SVMFree(context: Context, memory: HostMemory): 0 {
  return native().SVMFree(context, memory);
}

/**
 * Frees memory when the queue has come to it, and no earlier than `SVMFree` would; it is detached at once. Calls
 * clEnqueueSVMFree (OpenCL 2.0).
 *
 * @param notify called on this thread once the queue has come to it
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @throws INVALID_COMMAND_QUEUE, INVALID_VALUE without memory or for memory that is not of `SVMAlloc`
 */
export function enqueueSVMFree<W extends boolean | undefined = false>(
  queue: CommandQueue,
  memory: readonly HostMemory[],
  notify?: ((userData: unknown) => void) | null,
  userData?: unknown,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueSVMFree(queue, memory, notify, userData, waitList, wantEvent);
}

/**
 * Copies memory; either side may be shared virtual memory. Calls clEnqueueSVMMemcpy (OpenCL 2.0).
 *
 * @param size bytes
 * @throws INVALID_COMMAND_QUEUE, INVALID_VALUE, also for resizable memory without `blocking`, MEM_COPY_OVERLAP
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @returns the event, or SUCCESS when none is wanted
 */
export function enqueueSVMMemcpy<W extends boolean | undefined = false>(
  queue: CommandQueue,
  blocking: boolean | number,
  to: HostMemory,
  from: HostMemory,
  size: Size,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueSVMMemcpy(queue, blocking, to, from, size, waitList, wantEvent);
}

/**
 * Repeats a pattern. Calls clEnqueueSVMMemFill (OpenCL 2.0).
 *
 * @param size bytes, a multiple of the pattern's
 * @throws INVALID_COMMAND_QUEUE, INVALID_VALUE
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @returns the event, or SUCCESS when none is wanted
 */
export function enqueueSVMMemFill<W extends boolean | undefined = false>(
  queue: CommandQueue,
  memory: HostMemory,
  pattern: HostMemory,
  size: Size,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueSVMMemFill(queue, memory, pattern, size, waitList, wantEvent);
}

/**
 * Lets the host use coarse-grained memory. Calls clEnqueueSVMMap (OpenCL 2.0).
 *
 * @param size bytes
 * @throws INVALID_COMMAND_QUEUE, INVALID_VALUE
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @returns the event, or SUCCESS when none is wanted
 */
export function enqueueSVMMap<W extends boolean | undefined = false>(
  queue: CommandQueue,
  blocking: boolean | number,
  flags: Flags,
  memory: HostMemory,
  size: Size,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueSVMMap(queue, blocking, flags, memory, size, waitList, wantEvent);
}

/**
 * Gives coarse-grained memory back to the device. Calls clEnqueueSVMUnmap (OpenCL 2.0).
 *
 * @throws INVALID_COMMAND_QUEUE, INVALID_VALUE
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @returns the event, or SUCCESS when none is wanted
 */
export function enqueueSVMUnmap<W extends boolean | undefined = false>(
  queue: CommandQueue,
  memory: HostMemory,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueSVMUnmap(queue, memory, waitList, wantEvent);
}

/**
 * Moves memory to the queue's device ahead of its use. Calls clEnqueueSVMMigrateMem (OpenCL 2.1).
 *
 * @param sizes bytes of each; null for all of it
 * @throws INVALID_COMMAND_QUEUE, INVALID_VALUE
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @returns the event, or SUCCESS when none is wanted
 */
export function enqueueSVMMigrateMem<W extends boolean | undefined = false>(
  queue: CommandQueue,
  memory: readonly HostMemory[],
  sizes: readonly Size[] | null | undefined,
  flags: Flags,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueSVMMigrateMem(queue, memory, sizes, flags, waitList, wantEvent);
}
