import { native } from './binding.js';
import type { CommandQueue, Event, MemObject } from './objects.js';
import type { HostMemory, Size } from './types.js';

/**
 * Reads bytes of buffers behind all that a queue was given, and looks whether that is done: one call for what would be
 * several, for work that takes about as long as the call. Calls clEnqueueReadBuffer for each (without any, for a marker),
 * clFlush, and clGetEventInfo again and again.
 *
 * @param offsets one for each buffer, in bytes
 * @param views where the bytes go to: as many as fit there
 * @param microseconds how long this thread may look: at most 1000
 * @returns undefined when all is done; else the event of the last command, to be waited for
 * @throws INVALID_COMMAND_QUEUE, INVALID_MEM_OBJECT, INVALID_VALUE
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
 * Looks whether a command has ended, again and again. Calls clGetEventInfo.
 *
 * @param microseconds how long this thread may look: at most 1000
 * @returns its state: `COMPLETE`, or less when it has failed
 * @throws INVALID_EVENT, INVALID_VALUE
 */
export function lookAt(event: Event, microseconds: number): number {
  return native().lookAt(event, microseconds);
}
