import { native } from './binding.js';
import type { CommandQueue, Context, Device, Kernel } from './objects.js';
import type { Enqueued, Properties, WaitList } from './types.js';
import type { HostMemory, InfoValue, Size } from './values.js';

// Unified shared memory of cl_intel_unified_shared_memory: host and device use the same addresses. As memory of
// `SVMAlloc`, it lives until it is freed, `releaseAll` is called or this environment ends, and then until the commands
// that may use it have ended.

/**
 * Allocates host memory that devices can access. Calls clHostMemAllocINTEL.
 *
 * @param context context of the memory
 * @param properties such as `[MEM_ALLOC_FLAGS_INTEL, MEM_ALLOC_WRITE_COMBINED_INTEL]`; the final 0 is added
 * @param size bytes
 * @param alignment bytes; 0, the default, for the alignment of the largest type
 * @returns the memory, which is detached when it is freed
 * @throws OpenCLError INVALID_CONTEXT, INVALID_BUFFER_SIZE, INVALID_VALUE, OUT_OF_RESOURCES
 * @throws UnsupportedError when no device of the context has the extension
 * @example
 * ```ts
 * const numbers = new Float32Array(cl.hostMemAllocINTEL(context, null, 4096));
 * ```
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
 * Allocates memory that migrates between the host and a device. Calls clSharedMemAllocINTEL.
 *
 * @param context context of the memory
 * @param device device that shares the memory; null for any device of the context
 * @param properties as for `hostMemAllocINTEL`
 * @param size bytes
 * @param alignment bytes; 0, the default, for the alignment of the largest type
 * @returns the memory, which is detached when it is freed
 * @throws OpenCLError as `hostMemAllocINTEL`, and INVALID_DEVICE
 * @throws UnsupportedError when no device of the context has the extension
 * @example
 * ```ts
 * const numbers = new Float32Array(cl.sharedMemAllocINTEL(context, device, null, 4096));
 * ```
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
 * Always throws: clDeviceMemAllocINTEL returns an address that only the device can use, which an ArrayBuffer cannot
 * represent. Use a buffer for such memory.
 *
 * @throws UnsupportedError
 * @example
 * ```ts
 * // instead of cl.deviceMemAllocINTEL(context, device, null, 4096)
 * const buffer = cl.createBuffer(context, cl.MEM_READ_WRITE, 4096);
 * ```
 */
export function deviceMemAllocINTEL(..._args: readonly unknown[]): never {
  return native().deviceMemAllocINTEL() as never;
}

/**
 * Frees memory and detaches it. Calls clMemFreeINTEL as soon as the earlier commands of all queues of the context have
 * ended.
 *
 * @param context context of the memory
 * @param memory unified shared memory
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_CONTEXT; INVALID_VALUE for other memory, or when it is already freed
 * @example
 * ```ts
 * cl.memFreeINTEL(context, numbers);
 * ```
 */
export function memFreeINTEL(context: Context, memory: HostMemory): 0 {
  return native().memFreeINTEL(context, memory);
}

/**
 * Returns information about unified shared memory. Calls clGetMemAllocInfoINTEL.
 *
 * @param context context of the memory
 * @param memory memory to query
 * @param name `MEM_ALLOC_TYPE_INTEL`, `MEM_ALLOC_SIZE_INTEL` (bytes), `MEM_ALLOC_DEVICE_INTEL`;
 *   `MEM_ALLOC_BASE_PTR_INTEL` returns whether there is one
 * @returns the value, whose type depends on `name`
 * @throws OpenCLError INVALID_CONTEXT, INVALID_VALUE
 * @example
 * ```ts
 * const type = cl.getMemAllocInfoINTEL(context, numbers, cl.MEM_ALLOC_TYPE_INTEL);
 * ```
 */
export function getMemAllocInfoINTEL(context: Context, memory: HostMemory, name: number): InfoValue {
  return native().getMemAllocInfoINTEL(context, memory, name);
}

/**
 * Sets a pointer argument to unified shared memory. Calls clSetKernelArgMemPointerINTEL; `setKernelArg` with the memory
 * does the same.
 *
 * @param kernel kernel to change
 * @param index position of the argument, from 0
 * @param memory unified shared memory
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_KERNEL, INVALID_ARG_INDEX; INVALID_ARG_VALUE for an argument that is not a pointer;
 *   INVALID_VALUE for other memory
 * @example
 * ```ts
 * cl.setKernelArgMemPointerINTEL(kernel, 0, numbers);
 * ```
 */
export function setKernelArgMemPointerINTEL(kernel: Kernel, index: number, memory: HostMemory): 0 {
  return native().setKernelArgMemPointerINTEL(kernel, index, memory);
}

/**
 * Copies memory; either side may be unified shared memory. Calls clEnqueueMemcpyINTEL.
 *
 * @param queue command queue that executes the command
 * @param blocking whether the call waits until the command has completed
 * @param to destination
 * @param from source
 * @param size bytes to copy
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_VALUE, MEM_COPY_OVERLAP
 * @throws UnsupportedError when the device lacks the extension
 * @example
 * ```ts
 * cl.enqueueMemcpyINTEL(queue, true, to, from, 4096);
 * ```
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
 * Fills unified shared memory with a repeated pattern. Calls clEnqueueMemFillINTEL.
 *
 * @param queue command queue that executes the command
 * @param memory unified shared memory to fill
 * @param pattern bytes to repeat
 * @param size bytes to fill; a multiple of the pattern's size
 * @param waitList events that must complete before the command starts; null or omitted for none
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_VALUE
 * @throws UnsupportedError when the device lacks the extension
 * @example
 * ```ts
 * cl.enqueueMemFillINTEL(queue, numbers, Float32Array.of(0), 4096);
 * ```
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
