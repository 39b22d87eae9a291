import { native } from './binding.js';
import type { CommandQueue, Context, Device } from './objects.js';
import type { Flags, InfoValue, Properties } from './types.js';

/**
 * A command queue. Calls clCreateCommandQueue.
 *
 * @param properties a sum of `QUEUE_PROFILING_ENABLE` and `QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE`
 * @throws INVALID_CONTEXT, INVALID_DEVICE, INVALID_VALUE, INVALID_QUEUE_PROPERTIES
 */
export function createCommandQueue(
  context: Context,
  device: Device,
  ...properties: [properties?: Flags]
): CommandQueue {
  return native().createCommandQueue(context, device, ...properties);
}

/**
 * A command queue. Calls clCreateCommandQueueWithProperties (OpenCL 2.0), and clCreateCommandQueue where
 * the platform is older and the properties are plain flags.
 *
 * @param properties such as `[QUEUE_PROPERTIES, QUEUE_PROFILING_ENABLE]`; the final 0 is added
 * @throws INVALID_CONTEXT, INVALID_DEVICE, INVALID_VALUE, INVALID_QUEUE_PROPERTIES
 */
export function createCommandQueueWithProperties(
  context: Context,
  device: Device,
  properties?: Properties,
): CommandQueue {
  return native().createCommandQueueWithProperties(context, device, properties);
}

/**
 * Adds a reference. Calls clRetainCommandQueue.
 *
 * @throws INVALID_COMMAND_QUEUE
 */
export function retainCommandQueue(queue: CommandQueue): 0 {
  return native().retainCommandQueue(queue);
}

/**
 * Gives a reference back. Calls clReleaseCommandQueue, which may block until the queue is empty:
 * `releaseAsync` does not.
 *
 * @throws INVALID_COMMAND_QUEUE, also for a queue that is released already
 */
export function releaseCommandQueue(queue: CommandQueue): 0 {
  return native().releaseCommandQueue(queue);
}

/**
 * A fact about a queue. Calls clGetCommandQueueInfo.
 *
 * @param name `QUEUE_CONTEXT`, `QUEUE_DEVICE`, `QUEUE_PROPERTIES`, `QUEUE_REFERENCE_COUNT`, …
 * @throws INVALID_COMMAND_QUEUE, INVALID_VALUE
 */
export function getCommandQueueInfo(queue: CommandQueue, name: number): InfoValue {
  return native().getCommandQueueInfo(queue, name);
}

/**
 * Switches properties of a queue on or off. Calls clSetCommandQueueProperty, which only OpenCL 1.0 has.
 *
 * @returns the properties before
 * @throws UnsupportedError on newer platforms
 */
export function setCommandQueueProperty(queue: CommandQueue, properties: Flags, enable: boolean): number {
  return native().setCommandQueueProperty(queue, properties, enable);
}

/**
 * Makes an on-device queue the default one of its device. Calls clSetDefaultDeviceCommandQueue (OpenCL 2.1).
 *
 * @throws INVALID_CONTEXT, INVALID_DEVICE, INVALID_COMMAND_QUEUE, INVALID_OPERATION
 */
export function setDefaultDeviceCommandQueue(context: Context, device: Device, queue: CommandQueue): 0 {
  return native().setDefaultDeviceCommandQueue(context, device, queue);
}

/**
 * Hands what was enqueued to the device. Calls clFlush, which some drivers block in.
 *
 * @throws INVALID_COMMAND_QUEUE
 */
export function flush(queue: CommandQueue): 0 {
  return native().flush(queue);
}

/**
 * Waits until everything enqueued is done. Calls clFinish, and blocks this thread meanwhile.
 *
 * @throws INVALID_COMMAND_QUEUE, OUT_OF_RESOURCES and what else a command may have ended with
 */
export function finish(queue: CommandQueue): 0 {
  return native().finish(queue);
}

/**
 * Waits until everything enqueued so far is done, on another thread. Enqueues a marker and waits for its event; calls
 * clFinish where that fails, or a driver gives no marker.
 *
 * @throws (rejects) INVALID_COMMAND_QUEUE, OUT_OF_RESOURCES and what else a command may have ended with
 */
export function finishAsync(queue: CommandQueue): Promise<void> {
  return native().finishAsync(queue);
}
