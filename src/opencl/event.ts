import { native } from './binding.js';
import type { Context, Event } from './objects.js';
import type { HighLow, InfoValue } from './values.js';

/**
 * Waits until all events have completed and blocks this thread meanwhile. Calls clWaitForEvents.
 *
 * @param events one or more events
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_VALUE without events, INVALID_EVENT, EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
 * @example
 * ```ts
 * cl.waitForEvents([event]);
 * ```
 */
export function waitForEvents(events: readonly Event[]): 0 {
  return native().waitForEvents(events);
}

/**
 * Flushes the queues of the events and waits for the events on another thread. Calls clFlush and clWaitForEvents. If
 * several waits are already pending, it calls clSetEventCallback instead, so that the number of threads stays constant.
 *
 * @param events one or more events
 * @returns a promise that resolves when all events have completed
 * @throws OpenCLError (rejects) INVALID_VALUE without events, INVALID_EVENT, EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
 * @example
 * ```ts
 * await cl.waitForEventsAsync([event]);
 * ```
 */
export function waitForEventsAsync(events: readonly Event[]): Promise<void> {
  return native().waitForEventsAsync(events);
}

/**
 * Returns information about an event. Calls clGetEventInfo.
 *
 * @param event event to query
 * @param name `EVENT_COMMAND_EXECUTION_STATUS` (`QUEUED`, …, `COMPLETE`, or a negative status), …;
 *   `EVENT_COMMAND_QUEUE` of a user event is a handle whose `released` is true
 * @returns the value, whose type depends on `name`
 * @throws OpenCLError INVALID_EVENT, INVALID_VALUE
 * @example
 * ```ts
 * const status = cl.getEventInfo(event, cl.EVENT_COMMAND_EXECUTION_STATUS);
 * ```
 */
export function getEventInfo(event: Event, name: number): InfoValue {
  return native().getEventInfo(event, name);
}

/**
 * Creates an event that `setUserEventStatus` completes. Calls clCreateUserEvent (OpenCL 1.1).
 *
 * The binding fails a user event that is still open when this environment ends, or when its handle is released or
 * garbage-collected, because nothing could complete it afterwards. If a command buffer may wait for the event, the
 * binding completes it instead.
 *
 * @param context context of the event
 * @returns the user event in the state `SUBMITTED`
 * @throws OpenCLError INVALID_CONTEXT
 * @example
 * ```ts
 * const gate = cl.createUserEvent(context);
 * ```
 */
export function createUserEvent(context: Context): Event {
  return native().createUserEvent(context);
}

/**
 * Completes a user event, which is possible once. Calls clSetUserEventStatus (OpenCL 1.1).
 *
 * @param event user event
 * @param status `COMPLETE`, or a negative number for an error
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_EVENT, INVALID_VALUE; INVALID_OPERATION when the status is already set, or for an error
 *   status while a command buffer of the context is waiting to execute
 * @example
 * ```ts
 * cl.setUserEventStatus(gate, cl.COMPLETE);
 * ```
 */
export function setUserEventStatus(event: Event, status: number): 0 {
  return native().setUserEventStatus(event, status);
}

/**
 * Adds a reference to an event. Calls clRetainEvent.
 *
 * @param event event to retain
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_EVENT
 * @example
 * ```ts
 * cl.retainEvent(event);
 * ```
 */
export function retainEvent(event: Event): 0 {
  return native().retainEvent(event);
}

/**
 * Removes a reference from an event. Calls clReleaseEvent.
 *
 * @param event event to release
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_EVENT, also when it is already released
 * @example
 * ```ts
 * cl.releaseEvent(event);
 * ```
 */
export function releaseEvent(event: Event): 0 {
  return native().releaseEvent(event);
}

/**
 * Registers a callback for an execution state of an event. Calls clSetEventCallback (OpenCL 1.1) and flushes the queue
 * of the event on another thread.
 *
 * The callback runs on this thread, and the process stays alive until then. It also runs when the command fails on a
 * driver that does not report failures to callbacks.
 *
 * @param event event to watch
 * @param type `SUBMITTED`, `RUNNING` or `COMPLETE`
 * @param notify called as (userData, status, event); a negative status is the error of the command
 * @param userData passed to `notify`
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_EVENT, INVALID_VALUE
 * @example
 * ```ts
 * cl.setEventCallback(event, cl.COMPLETE, (_, status) => console.log(status));
 * ```
 */
export function setEventCallback(
  event: Event,
  type: number,
  notify: (userData: unknown, status: number, event: Event) => void,
  userData?: unknown,
): 0 {
  return native().setEventCallback(event, type, notify, userData);
}

/**
 * Returns the time at which a command reached a state. Calls clGetEventProfilingInfo.
 *
 * @param event event of a command on a queue with `QUEUE_PROFILING_ENABLE`
 * @param name `PROFILING_COMMAND_QUEUED`, `…_SUBMIT`, `…_START`, `…_END`, `…_COMPLETE`
 * @returns nanoseconds of the device's clock, as [hi, lo]
 * @throws OpenCLError INVALID_EVENT; PROFILING_INFO_NOT_AVAILABLE without `QUEUE_PROFILING_ENABLE` or before the
 *   command has ended
 * @example
 * ```ts
 * const [high, low] = cl.getEventProfilingInfo(event, cl.PROFILING_COMMAND_END);
 * ```
 */
export function getEventProfilingInfo(event: Event, name: number): HighLow {
  return native().getEventProfilingInfo(event, name);
}
