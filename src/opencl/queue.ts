import { native } from './binding.js';
import type { CommandQueue, Context, Device } from './objects.js';
import type { Properties } from './types.js';
import type { Flags, InfoValue } from './values.js';

/**
 * Creates a command queue. Calls clCreateCommandQueue.
 *
 * @param context context of the queue
 * @param device device that executes the commands
 * @param properties sum of `QUEUE_PROFILING_ENABLE` and `QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE`; none by default
 * @returns the queue
 * @throws OpenCLError INVALID_CONTEXT, INVALID_DEVICE, INVALID_VALUE, INVALID_QUEUE_PROPERTIES
 * @example
 * ```ts
 * const queue = cl.createCommandQueue(context, device, cl.QUEUE_PROFILING_ENABLE);
 * ```
 */
export function createCommandQueue(
  context: Context,
  device: Device,
  ...properties: [properties?: Flags]
): CommandQueue {
  return native().createCommandQueue(context, device, ...properties);
}

/**
 * Creates a command queue with a list of properties. Calls clCreateCommandQueueWithProperties (OpenCL 2.0); on older
 * platforms it calls clCreateCommandQueue if the properties are plain flags.
 *
 * @param context context of the queue
 * @param device device that executes the commands
 * @param properties such as `[QUEUE_PROPERTIES, QUEUE_PROFILING_ENABLE]`; the final 0 is added
 * @returns the queue
 * @throws OpenCLError INVALID_CONTEXT, INVALID_DEVICE, INVALID_VALUE, INVALID_QUEUE_PROPERTIES
 * @example
 * ```ts
 * const properties = [cl.QUEUE_PROPERTIES, cl.QUEUE_PROFILING_ENABLE];
 * const queue = cl.createCommandQueueWithProperties(context, device, properties);
 * ```
 */
export function createCommandQueueWithProperties(
  context: Context,
  device: Device,
  properties?: Properties,
): CommandQueue {
  return native().createCommandQueueWithProperties(context, device, properties);
}

/**
 * Adds a reference to a queue. Calls clRetainCommandQueue.
 *
 * @param queue queue to retain
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE
 * @example
 * ```ts
 * cl.retainCommandQueue(queue);
 * ```
 */
export function retainCommandQueue(queue: CommandQueue): 0 {
  return native().retainCommandQueue(queue);
}

/**
 * Removes a reference from a queue. Calls clReleaseCommandQueue, which may block until the queue is empty;
 * `releaseAsync` does not block.
 *
 * @param queue queue to release
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, also when it is already released
 * @example
 * ```ts
 * cl.releaseCommandQueue(queue);
 * ```
 */
export function releaseCommandQueue(queue: CommandQueue): 0 {
  return native().releaseCommandQueue(queue);
}

/**
 * Returns information about a queue. Calls clGetCommandQueueInfo.
 *
 * @param queue queue to query
 * @param name `QUEUE_CONTEXT`, `QUEUE_DEVICE`, `QUEUE_PROPERTIES`, `QUEUE_REFERENCE_COUNT`, …
 * @returns the value, whose type depends on `name`
 * @throws OpenCLError INVALID_COMMAND_QUEUE, INVALID_VALUE
 * @example
 * ```ts
 * const device = cl.getCommandQueueInfo(queue, cl.QUEUE_DEVICE);
 * ```
 */
export function getCommandQueueInfo(queue: CommandQueue, name: number): InfoValue {
  return native().getCommandQueueInfo(queue, name);
}

/**
 * Enables or disables properties of a queue. Calls clSetCommandQueueProperty, which only OpenCL 1.0 has.
 *
 * @param queue queue to change
 * @param properties sum of `QUEUE_…`
 * @param enable true to enable the properties, false to disable them
 * @returns the previous properties
 * @throws UnsupportedError on newer platforms
 * @example
 * ```ts
 * cl.setCommandQueueProperty(queue, cl.QUEUE_PROFILING_ENABLE, true);
 * ```
 */
export function setCommandQueueProperty(queue: CommandQueue, properties: Flags, enable: boolean): number {
  return native().setCommandQueueProperty(queue, properties, enable);
}

/**
 * Makes an on-device queue the default queue of its device. Calls clSetDefaultDeviceCommandQueue (OpenCL 2.1).
 *
 * @param context context of the queue
 * @param device device of the queue
 * @param queue on-device queue
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_CONTEXT, INVALID_DEVICE, INVALID_COMMAND_QUEUE, INVALID_OPERATION
 * @example
 * ```ts
 * cl.setDefaultDeviceCommandQueue(context, device, queue);
 * ```
 */
export function setDefaultDeviceCommandQueue(context: Context, device: Device, queue: CommandQueue): 0 {
  return native().setDefaultDeviceCommandQueue(context, device, queue);
}

/**
 * Submits the enqueued commands to the device. Calls clFlush, which blocks on some drivers.
 *
 * @param queue queue to flush
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE
 * @example
 * ```ts
 * cl.flush(queue);
 * ```
 */
export function flush(queue: CommandQueue): 0 {
  return native().flush(queue);
}

/**
 * Waits until all enqueued commands have ended and blocks this thread meanwhile. Calls clFinish.
 *
 * @param queue queue to wait for
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_COMMAND_QUEUE, OUT_OF_RESOURCES, and other errors of the commands
 * @example
 * ```ts
 * cl.finish(queue);
 * ```
 */
export function finish(queue: CommandQueue): 0 {
  return native().finish(queue);
}

/**
 * Waits on another thread until all commands enqueued so far have ended. Enqueues a marker and waits for its event;
 * calls clFinish if that fails or the driver creates no marker.
 *
 * @param queue queue to wait for
 * @returns a promise that resolves when the commands have ended
 * @throws OpenCLError (rejects) INVALID_COMMAND_QUEUE, OUT_OF_RESOURCES, and other errors of the commands
 * @example
 * ```ts
 * await cl.finishAsync(queue);
 * ```
 */
export function finishAsync(queue: CommandQueue): Promise<void> {
  return native().finishAsync(queue);
}
