import { native } from './binding.js';
import type { CommandQueue, Event, MemObject } from './objects.js';
import type { HostMemory, Size } from './values.js';

/**
 * Reads bytes of buffers after all commands of a queue, then polls until the reads are done. The single call of the
 * addon replaces several, for work that takes about as long as a call. Calls clEnqueueReadBuffer for each buffer
 * (without buffers, enqueues a marker), clFlush, and clGetEventInfo repeatedly.
 *
 * @param queue command queue that executes the command
 * @param buffers buffers to read
 * @param offsets bytes from the start of each buffer
 * @param views destinations; each determines the number of bytes
 * @param microseconds maximum time to poll on this thread, at most 1000
 * @returns undefined when everything is done, otherwise the event of the last command
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_VALUE
 * @example
 * ```ts
 * const event = cl.readAndLook(queue, [buffer], [0], [words], 100);
 * ```
 */
export function readAndLook(
  queue: CommandQueue,
  buffers: readonly MemObject[],
  offsets: readonly Size[],
  views: readonly HostMemory[],
  microseconds: number,
): Event | undefined {
  return native().readAndLook(queue, buffers, offsets, views, microseconds);
}

/**
 * Polls the state of a command until it has ended. Calls clGetEventInfo repeatedly.
 *
 * @param event event of the command
 * @param microseconds maximum time to poll on this thread, at most 1000
 * @returns the state: `COMPLETE`, a larger number before the end, or a negative status when the command failed
 * @throws OpenCLError INVALID_EVENT, INVALID_VALUE
 * @example
 * ```ts
 * const isDone = cl.lookAt(event, 100) === cl.COMPLETE;
 * ```
 */
export function lookAt(event: Event, microseconds: number): number {
  return native().lookAt(event, microseconds);
}
