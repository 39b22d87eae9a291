import { native } from './binding.js';
import type { CommandQueue, Context } from './objects.js';
import type { Enqueued, WaitList } from './types.js';
import type { Flags, HostMemory, Size } from './values.js';

/**
 * Allocates shared virtual memory. Calls clSVMAlloc (OpenCL 2.0).
 *
 * The memory lives until it is freed, `releaseAll` is called or this environment ends, and then until the commands that
 * may use it have ended. Garbage collection does not free it, because kernels may hold its address.
 *
 * @param context context of the memory
 * @param flags `MEM_READ_WRITE`, …, with `MEM_SVM_FINE_GRAIN_BUFFER` and `MEM_SVM_ATOMICS` if the device supports them
 * @param size bytes
 * @param alignment bytes; 0, the default, for the alignment of the largest type
 * @returns the memory, which is detached when it is freed
 * @throws OpenCLError INVALID_CONTEXT; INVALID_VALUE when the driver allocates none
 * @throws UnsupportedError when no device supports shared virtual memory
 * @example
 * ```ts
 * const numbers = new Float32Array(cl.SVMAlloc(context, cl.MEM_READ_WRITE, 4096));
 * ```
 */
export function SVMAlloc(context: Context, flags: Flags, size: Size, alignment?: number | null): ArrayBuffer {
  return native().SVMAlloc(context, flags, size, alignment);
}

/**
 * Frees memory of `SVMAlloc` and detaches it; does nothing for other memory. Calls clSVMFree (OpenCL 2.0) as soon as
 * the earlier commands of all queues of the context have ended and no transfer, checksum or memory object uses the
 * memory.
 *
 * Running commands are not disturbed. A kernel that still has the memory as an argument cannot be launched.
 *
 * @param context context of the memory
 * @param memory memory of `SVMAlloc`
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_CONTEXT
 * @example
 * ```ts
 * cl.SVMFree(context, numbers);
 * ```
 */
export function SVMFree(context: Context, memory: HostMemory): 0 {
  return native().SVMFree(context, memory);
}

/**
 * Frees memory when the queue reaches the command, but not earlier than `SVMFree` would. The memory is detached at
 * once. Calls clEnqueueSVMFree (OpenCL 2.0).
 *
 * @param queue command queue that executes the command
 * @param memory one or more memories of `SVMAlloc`
 * @param notify called as (userData) on this thread when the queue has reached the command
 * @param userData passed to `notify`
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE; INVALID_VALUE without memory, or for memory that is not of `SVMAlloc`
 * @example
 * ```ts
 * cl.enqueueSVMFree(queue, [numbers]);
 * ```
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
 * @param queue command queue that executes the command
 * @param blocking whether the call waits until the command has completed
 * @param to destination
 * @param from source
 * @param size bytes to copy
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, MEM_COPY_OVERLAP; INVALID_VALUE, also for resizable memory without
 *   `blocking`
 * @example
 * ```ts
 * cl.enqueueSVMMemcpy(queue, true, to, from, 4096);
 * ```
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
 * Fills shared virtual memory with a repeated pattern. Calls clEnqueueSVMMemFill (OpenCL 2.0).
 *
 * @param queue command queue that executes the command
 * @param memory shared virtual memory to fill
 * @param pattern bytes to repeat
 * @param size bytes to fill; a multiple of the pattern's size
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_VALUE
 * @example
 * ```ts
 * cl.enqueueSVMMemFill(queue, numbers, Float32Array.of(0), 4096);
 * ```
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
 * Maps coarse-grained shared virtual memory for use by the host. Calls clEnqueueSVMMap (OpenCL 2.0).
 *
 * @param queue command queue that executes the command
 * @param blocking whether the call waits until the command has completed
 * @param flags `MAP_READ`, `MAP_WRITE`, `MAP_WRITE_INVALIDATE_REGION`
 * @param memory shared virtual memory to map
 * @param size bytes to map
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_VALUE
 * @example
 * ```ts
 * cl.enqueueSVMMap(queue, true, cl.MAP_READ, numbers, 4096);
 * ```
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
 * Unmaps coarse-grained shared virtual memory for use by the device. Calls clEnqueueSVMUnmap (OpenCL 2.0).
 *
 * @param queue command queue that executes the command
 * @param memory mapped shared virtual memory
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_VALUE
 * @example
 * ```ts
 * cl.enqueueSVMUnmap(queue, numbers);
 * ```
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
 * Migrates shared virtual memory to the device of the queue before its use. Calls clEnqueueSVMMigrateMem (OpenCL 2.1).
 *
 * @param queue command queue that executes the command
 * @param memory one or more memories of `SVMAlloc`
 * @param sizes bytes of each; null for all of its bytes
 * @param flags `MIGRATE_MEM_OBJECT_HOST`, `MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED`
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_VALUE
 * @example
 * ```ts
 * cl.enqueueSVMMigrateMem(queue, [numbers], null, 0);
 * ```
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
