import { native } from './binding.js';
import type { CommandBuffer, CommandQueue } from './objects.js';
import type { Enqueued, Properties, WaitList } from './types.js';
import type { InfoValue } from './values.js';

// cl_khr_command_buffer, versions 0.9.0 to 0.9.4: commands are recorded once and executed many times. Version 0.9.5
// changed the arguments of its functions; for that version or later the binding throws UnsupportedError. A command
// buffer belongs to one queue.
//
// A command buffer keeps the objects that its commands use alive, even if their handles are released: buffers, images,
// and kernels with the arguments that they had when they were recorded. Shared virtual memory must still be allocated
// when the command buffer executes.

/**
 * Creates a command buffer in the recording state. Calls clCreateCommandBufferKHR.
 *
 * @param queues array of exactly one queue
 * @param properties such as `[COMMAND_BUFFER_FLAGS_KHR, COMMAND_BUFFER_SIMULTANEOUS_USE_KHR]`; the final 0 is added
 * @returns the command buffer
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_VALUE, INCOMPATIBLE_COMMAND_QUEUE_KHR
 * @throws UnsupportedError when the device lacks the extension or has another version of it
 * @example
 * ```ts
 * const commands = cl.createCommandBufferKHR([queue]);
 * cl.commandNDRangeKernelKHR(commands, null, null, kernel, 1, null, [1024], null);
 * cl.finalizeCommandBufferKHR(commands);
 * cl.enqueueCommandBufferKHR(null, commands);
 * ```
 */
export function createCommandBufferKHR(
  queues: readonly CommandQueue[],
  properties?: Properties,
): CommandBuffer {
  return native().createCommandBufferKHR(queues, properties);
}

/**
 * Ends the recording; the command buffer can then be executed. Calls clFinalizeCommandBufferKHR.
 *
 * @param commandBuffer command buffer in the recording state
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_BUFFER_KHR; INVALID_OPERATION when it is already finalized
 * @example
 * ```ts
 * cl.finalizeCommandBufferKHR(commandBuffer);
 * ```
 */
export function finalizeCommandBufferKHR(commandBuffer: CommandBuffer): 0 {
  return native().finalizeCommandBufferKHR(commandBuffer);
}

/**
 * Adds a reference to the handle. The binding counts these references itself; it calls no OpenCL function.
 *
 * @param commandBuffer command buffer to retain
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_BUFFER_KHR
 * @example
 * ```ts
 * cl.retainCommandBufferKHR(commandBuffer);
 * ```
 */
export function retainCommandBufferKHR(commandBuffer: CommandBuffer): 0 {
  return native().retainCommandBufferKHR(commandBuffer);
}

/**
 * Removes a reference from the handle. After the last one, clReleaseCommandBufferKHR is called as soon as no queue
 * executes the command buffer any more.
 *
 * @param commandBuffer command buffer to release
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_BUFFER_KHR, also when it is already released
 * @example
 * ```ts
 * cl.releaseCommandBufferKHR(commandBuffer);
 * ```
 */
export function releaseCommandBufferKHR(commandBuffer: CommandBuffer): 0 {
  return native().releaseCommandBufferKHR(commandBuffer);
}

/**
 * Enqueues the recorded commands for execution. Calls clEnqueueCommandBufferKHR.
 *
 * @param queues array of one queue that is compatible with the recorded queue, or null for the recorded queue
 * @param commandBuffer finalized command buffer
 * @param waitList events that must complete before the first command starts; null or omitted for none
 * @param wantEvent whether to return an event for the whole execution; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_BUFFER_KHR, INVALID_COMMAND_QUEUE, INVALID_EVENT_WAIT_LIST; INVALID_OPERATION
 *   when the command buffer is not finalized, or is still executing and was created without
 *   `COMMAND_BUFFER_SIMULTANEOUS_USE_KHR`; INVALID_KERNEL_ARGS when shared virtual memory of a kernel was freed
 * @example
 * ```ts
 * cl.enqueueCommandBufferKHR(null, commandBuffer); // on the queue that recorded it
 * ```
 */
export function enqueueCommandBufferKHR<W extends boolean | undefined = false>(
  queues: readonly CommandQueue[] | null | undefined,
  commandBuffer: CommandBuffer,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueCommandBufferKHR(queues, commandBuffer, waitList, wantEvent);
}

/**
 * Returns information about a command buffer. Calls clGetCommandBufferInfoKHR.
 *
 * @param commandBuffer command buffer to query
 * @param name `COMMAND_BUFFER_STATE_KHR`, `COMMAND_BUFFER_QUEUES_KHR`, …
 * @returns the value, whose type depends on `name`
 * @throws OpenCLError INVALID_COMMAND_BUFFER_KHR, INVALID_VALUE
 * @example
 * ```ts
 * const queues = cl.getCommandBufferInfoKHR(commandBuffer, cl.COMMAND_BUFFER_NUM_QUEUES_KHR);
 * ```
 */
export function getCommandBufferInfoKHR(commandBuffer: CommandBuffer, name: number): InfoValue {
  return native().getCommandBufferInfoKHR(commandBuffer, name);
}
