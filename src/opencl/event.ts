import { native } from './binding.js';
import type { Context, Event } from './objects.js';
import type { HighLow, InfoValue } from './types.js';

/**
 * Waits until all events have completed. Calls clWaitForEvents, and blocks this thread meanwhile.
 *
 * @throws INVALID_VALUE without events, INVALID_EVENT, EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
 */
export function waitForEvents(events: readonly Event[]): 0 {
  return native().waitForEvents(events);
}

/**
 * Flushes the events' queues and waits, on another thread. Calls clFlush and clWaitForEvents; when several waits are
 * pending already, clSetEventCallback instead, so that any number of them takes no more threads.
 *
 * @throws (rejects) INVALID_VALUE without events, INVALID_EVENT, EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
 */
export function waitForEventsAsync(events: readonly Event[]): Promise<void> {
  return native().waitForEventsAsync(events);
}

/**
 * A fact about an event. Calls clGetEventInfo.
 *
 * @param name `EVENT_COMMAND_EXECUTION_STATUS` (`QUEUED`, …, `COMPLETE`, or a negative status), …;
 *   `EVENT_COMMAND_QUEUE` of a user event is a handle that counts as released
 * @throws INVALID_EVENT, INVALID_VALUE
 */
export function getEventInfo(event: Event, name: number): InfoValue {
  return native().getEventInfo(event, name);
}

/**
 * An event that `setUserEventStatus` completes. Calls clCreateUserEvent (OpenCL 1.1). One that is still open
 * when this environment ends, or when its handle is released or collected, is failed, since nothing could complete
 * it any more; it is completed instead where a command buffer may wait for it.
 *
 * @throws INVALID_CONTEXT
 */
export function createUserEvent(context: Context): Event {
  return native().createUserEvent(context);
}

/**
 * Completes a user event, once. Calls clSetUserEventStatus (OpenCL 1.1).
 *
 * @param status `COMPLETE`, or a negative number for an error
 * @throws INVALID_EVENT, INVALID_VALUE, INVALID_OPERATION the second time, and for an error while a command buffer of the
 *   context is to be executed
 */
export function setUserEventStatus(event: Event, status: number): 0 {
  return native().setUserEventStatus(event, status);
}

/**
 * Adds a reference. Calls clRetainEvent.
 *
 * @throws INVALID_EVENT
 */
export function retainEvent(event: Event): 0 {
  return native().retainEvent(event);
}

/**
 * Gives a reference back. Calls clReleaseEvent.
 *
 * @throws INVALID_EVENT, also for an event that is released already
 */
export function releaseEvent(event: Event): 0 {
  return native().releaseEvent(event);
}

/**
 * Has a function called on this thread when an event gets to a state; the process stays alive until then.
 * Calls clSetEventCallback (OpenCL 1.1), and flushes the event's queue on another thread. Where a driver calls nobody
 * when a command fails, the function is called all the same.
 *
 * @param type `SUBMITTED`, `RUNNING` or `COMPLETE`
 * @param notify gets (userData, status, event); a negative status is the command's error
 * @throws INVALID_EVENT, INVALID_VALUE
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
 * When a command got to a state, in nanoseconds of the device's clock, as [hi, lo]. Calls
 * clGetEventProfilingInfo.
 *
 * @param name `PROFILING_COMMAND_QUEUED`, `…_SUBMIT`, `…_START`, `…_END`, `…_COMPLETE`
 * @throws PROFILING_INFO_NOT_AVAILABLE without `QUEUE_PROFILING_ENABLE` or before the end, INVALID_EVENT
 */
export function getEventProfilingInfo(event: Event, name: number): HighLow {
  return native().getEventProfilingInfo(event, name);
}
