import { native } from './binding.js';
import type { CommandQueue, Context, Device, Kernel } from './objects.js';
import type { Enqueued, HostMemory, InfoValue, Properties, Size, WaitList } from './types.js';

// Unified shared memory, of cl_intel_unified_shared_memory: memory that host and device use by the same address. It
// lives as memory of `SVMAlloc` does: until it is freed, `releaseAll` is called or this environment ends, and then until
// the commands are done that may use it.

/**
 * Memory of the host that devices use. Calls clHostMemAllocINTEL.
 *
 * @param properties such as `[MEM_ALLOC_FLAGS_INTEL, MEM_ALLOC_WRITE_COMBINED_INTEL]`
 * @param size bytes
 * @param alignment bytes; 0 for that of the largest type
 * @returns the memory, detached when it is freed
 * @throws INVALID_CONTEXT, INVALID_BUFFER_SIZE, INVALID_VALUE, OUT_OF_RESOURCES; UnsupportedError where no device of the
 *   context has the extension
 */
export function hostMemAllocINTEL(
  context: Context,
  properties: Properties,
  size: Size,
  alignment?: number | null,
): ArrayBuffer {
  return native().hostMemAllocINTEL(context, properties, size, alignment);
}

/**
 * Memory that moves between the host and a device. Calls clSharedMemAllocINTEL.
 *
 * @param device null for any of the context
 * @returns the memory, detached when it is freed
 * @throws as `hostMemAllocINTEL`, INVALID_DEVICE
 */
export function sharedMemAllocINTEL(
  context: Context,
  device: Device | null | undefined,
  properties: Properties,
  size: Size,
  alignment?: number | null,
): ArrayBuffer {
  return native().sharedMemAllocINTEL(context, device, properties, size, alignment);
}

/**
 * Always throws UnsupportedError: clDeviceMemAllocINTEL gives an address that only the device can use, which no
 * ArrayBuffer can stand for. A buffer is such memory.
 */
export function deviceMemAllocINTEL(..._args: readonly unknown[]): never {
  return native().deviceMemAllocINTEL() as never;
}

/**
 * Frees memory and detaches it. Calls clMemFreeINTEL, once all is done that the queues of its context were given before.
 *
 * @throws INVALID_CONTEXT, INVALID_VALUE for other memory, or what is freed already
 */
export function memFreeINTEL(context: Context, memory: HostMemory): 0 {
  return native().memFreeINTEL(context, memory);
}

/**
 * A fact about unified shared memory. Calls clGetMemAllocInfoINTEL.
 *
 * @param name `MEM_ALLOC_TYPE_INTEL`, `MEM_ALLOC_SIZE_INTEL` (bytes), `MEM_ALLOC_DEVICE_INTEL`; `MEM_ALLOC_BASE_PTR_INTEL`
 *   tells whether there is one
 * @throws INVALID_CONTEXT, INVALID_VALUE
 */
export function getMemAllocInfoINTEL(context: Context, memory: HostMemory, name: number): InfoValue {
  return native().getMemAllocInfoINTEL(context, memory, name);
}

/**
 * Sets a pointer argument. Calls clSetKernelArgMemPointerINTEL. `setKernelArg` with the memory does the same.
 *
 * @throws INVALID_KERNEL, INVALID_ARG_INDEX, INVALID_ARG_VALUE for an argument that is no pointer, INVALID_VALUE for other
 *   memory
 */
export function setKernelArgMemPointerINTEL(kernel: Kernel, index: number, memory: HostMemory): 0 {
  return native().setKernelArgMemPointerINTEL(kernel, index, memory);
}

/**
 * Copies memory; either side may be unified shared memory. Calls clEnqueueMemcpyINTEL.
 *
 * @param size bytes
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @throws INVALID_COMMAND_QUEUE, INVALID_VALUE, MEM_COPY_OVERLAP; UnsupportedError
 */
export function enqueueMemcpyINTEL<W extends boolean | undefined = false>(
  queue: CommandQueue,
  blocking: boolean | number,
  to: HostMemory,
  from: HostMemory,
  size: Size,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueMemcpyINTEL(queue, blocking, to, from, size, waitList, wantEvent);
}

/**
 * Repeats a pattern. Calls clEnqueueMemFillINTEL.
 *
 * @param size bytes, a multiple of the pattern's
 * @param waitList events that have to complete first
 * @param wantEvent return an event for this command
 * @throws INVALID_COMMAND_QUEUE, INVALID_VALUE; UnsupportedError
 */
export function enqueueMemFillINTEL<W extends boolean | undefined = false>(
  queue: CommandQueue,
  memory: HostMemory,
  pattern: HostMemory,
  size: Size,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueMemFillINTEL(queue, memory, pattern, size, waitList, wantEvent);
}
