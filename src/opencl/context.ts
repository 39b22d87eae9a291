import { native } from './binding.js';
import type { Context, Device } from './objects.js';
import type { Flags, InfoValue, Properties } from './types.js';

/**
 * A context over devices of one platform. Calls clCreateContext.
 *
 * @param properties such as `[CONTEXT_PLATFORM, platform]`; the final 0 is added
 * @param notify called on this thread for each error that the driver reports outside of a call; it does not
 *   keep the process alive. It is let go with the context, that is, when nothing made from the context is left either,
 *   and on platforms before OpenCL 3.0 when the handle is released or collected
 * @throws INVALID_VALUE without devices, INVALID_DEVICE, INVALID_PLATFORM, INVALID_PROPERTY
 */
export function createContext(
  properties: Properties,
  devices: readonly Device[],
  notify?: ((message: string, details: Uint8Array, userData: unknown) => void) | null,
  userData?: unknown,
): Context {
  return native().createContext(properties, devices, notify, userData);
}

/**
 * A context over all devices of a type. Calls clCreateContextFromType.
 *
 * @param type a sum of `DEVICE_TYPE_…`, or an array of them
 * @throws DEVICE_NOT_FOUND, INVALID_DEVICE_TYPE, INVALID_PLATFORM, INVALID_PROPERTY
 */
export function createContextFromType(
  properties: Properties,
  type: Flags | readonly number[],
  notify?: ((message: string, details: Uint8Array, userData: unknown) => void) | null,
  userData?: unknown,
): Context {
  return native().createContextFromType(properties, type, notify, userData);
}

/**
 * Adds a reference. Calls clRetainContext.
 *
 * @throws INVALID_CONTEXT
 */
export function retainContext(context: Context): 0 {
  return native().retainContext(context);
}

/**
 * Gives a reference back; with the last one the handle is released. Calls clReleaseContext.
 *
 * @throws INVALID_CONTEXT, also for a context that is released already
 */
export function releaseContext(context: Context): 0 {
  return native().releaseContext(context);
}

/**
 * A fact about a context. Calls clGetContextInfo.
 *
 * @param name `CONTEXT_DEVICES`, `CONTEXT_NUM_DEVICES`, `CONTEXT_REFERENCE_COUNT`, `CONTEXT_PROPERTIES`
 * @throws INVALID_CONTEXT, INVALID_VALUE
 */
export function getContextInfo(context: Context, name: number): InfoValue {
  return native().getContextInfo(context, name);
}

/**
 * Has a function called on this thread when the driver destroys the context. Calls
 * clSetContextDestructorCallback (OpenCL 3.0). It does not keep the process alive.
 *
 * @throws INVALID_CONTEXT, INVALID_VALUE
 */
export function setContextDestructorCallback(
  context: Context,
  notify: (userData: unknown) => void,
  userData?: unknown,
): 0 {
  return native().setContextDestructorCallback(context, notify, userData);
}
