import { native } from './binding.js';
import type { CommandQueue, Event } from './objects.js';
import type { Enqueued, WaitList } from './types.js';

/**
 * Enqueues a marker, which completes when the events of its wait list have completed; without a wait list, when all
 * earlier commands have. Calls clEnqueueMarkerWithWaitList (OpenCL 1.2).
 *
 * @param queue command queue that executes the command
 * @param waitList events to wait for; null or omitted for all earlier commands
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_EVENT_WAIT_LIST
 * @example
 * ```ts
 * const reached = cl.enqueueMarkerWithWaitList(queue, null, true);
 * ```
 */
export function enqueueMarkerWithWaitList<W extends boolean | undefined = false>(
  queue: CommandQueue,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueMarkerWithWaitList(queue, waitList, wantEvent);
}

/**
 * Enqueues a barrier: a marker that later commands wait for. Calls clEnqueueBarrierWithWaitList (OpenCL 1.2).
 *
 * @param queue command queue that executes the command
 * @param waitList events to wait for; null or omitted for all earlier commands
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_EVENT_WAIT_LIST
 * @example
 * ```ts
 * cl.enqueueBarrierWithWaitList(queue, [event]);
 * ```
 */
export function enqueueBarrierWithWaitList<W extends boolean | undefined = false>(
  queue: CommandQueue,
  waitList?: WaitList,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueBarrierWithWaitList(queue, waitList, wantEvent);
}

/**
 * Enqueues a marker after all earlier commands. Calls clEnqueueMarker, which OpenCL 1.2 replaced by
 * `enqueueMarkerWithWaitList`.
 *
 * @param queue command queue that executes the command
 * @param wantEvent whether to return an event for the command; false by default
 * @returns the event if `wantEvent` is true, otherwise SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE
 * @example
 * ```ts
 * const reached = cl.enqueueMarker(queue, true);
 * ```
 */
export function enqueueMarker<W extends boolean | undefined = false>(
  queue: CommandQueue,
  wantEvent?: W,
): Enqueued<W> {
  return native().enqueueMarker(queue, wantEvent);
}

/**
 * Enqueues a barrier after all earlier commands. Calls clEnqueueBarrier, which OpenCL 1.2 replaced by
 * `enqueueBarrierWithWaitList`.
 *
 * @param queue command queue that executes the command
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE
 * @example
 * ```ts
 * cl.enqueueBarrier(queue);
 * ```
 */
export function enqueueBarrier(queue: CommandQueue): 0 {
  return native().enqueueBarrier(queue);
}

/**
 * Makes later commands wait for events. Calls clEnqueueWaitForEvents, which OpenCL 1.2 replaced by
 * `enqueueBarrierWithWaitList`.
 *
 * @param queue command queue that executes the command
 * @param events events to wait for
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_EVENT
 * @example
 * ```ts
 * cl.enqueueWaitForEvents(queue, [event]);
 * ```
 */
export function enqueueWaitForEvents(queue: CommandQueue, events: readonly Event[]): 0 {
  return native().enqueueWaitForEvents(queue, events);
}
