import { native } from './binding.js';
import type { Context, Device } from './objects.js';
import type { Properties } from './types.js';
import type { Flags, InfoValue } from './values.js';

/**
 * Creates a context for devices of one platform. Calls clCreateContext.
 *
 * @param properties such as `[CONTEXT_PLATFORM, platform]`; the final 0 is added
 * @param devices one or more devices of the same platform
 * @param notify called as (message, details, userData) on this thread for each error that the driver reports outside
 *   a call. It does not keep the process alive. It is freed with the context, after the last object of the context; on
 *   platforms before OpenCL 3.0, when the handle is released or garbage-collected
 * @param userData passed to `notify`
 * @returns the context
 * @throws OpenCLError INVALID_VALUE without devices, INVALID_DEVICE, INVALID_PLATFORM, INVALID_PROPERTY
 * @example
 * ```ts
 * const [platform] = cl.getPlatformIDs();
 * const [device] = cl.getDeviceIDs(platform, cl.DEVICE_TYPE_ALL);
 * const context = cl.createContext([cl.CONTEXT_PLATFORM, platform], [device]);
 * ```
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
 * Creates a context for all devices of a type. Calls clCreateContextFromType.
 *
 * @param properties such as `[CONTEXT_PLATFORM, platform]`; the final 0 is added
 * @param type sum of `DEVICE_TYPE_…`, or an array of them
 * @param notify called as (message, details, userData) on this thread for each error that the driver reports outside
 *   a call. It does not keep the process alive. It is freed with the context, after the last object of the context; on
 *   platforms before OpenCL 3.0, when the handle is released or garbage-collected
 * @param userData passed to `notify`
 * @returns the context
 * @throws OpenCLError DEVICE_NOT_FOUND, INVALID_DEVICE_TYPE, INVALID_PLATFORM, INVALID_PROPERTY
 * @example
 * ```ts
 * const context = cl.createContextFromType([cl.CONTEXT_PLATFORM, platform], cl.DEVICE_TYPE_GPU);
 * ```
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
 * Adds a reference to a context. Calls clRetainContext.
 *
 * @param context context to retain
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_CONTEXT
 * @example
 * ```ts
 * cl.retainContext(context);
 * ```
 */
export function retainContext(context: Context): 0 {
  return native().retainContext(context);
}

/**
 * Removes a reference from a context; without references the handle is released. Calls clReleaseContext.
 *
 * @param context context to release
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_CONTEXT, also when it is already released
 * @example
 * ```ts
 * cl.releaseContext(context);
 * ```
 */
export function releaseContext(context: Context): 0 {
  return native().releaseContext(context);
}

/**
 * Returns information about a context. Calls clGetContextInfo.
 *
 * @param context context to query
 * @param name `CONTEXT_DEVICES`, `CONTEXT_NUM_DEVICES`, `CONTEXT_REFERENCE_COUNT`, `CONTEXT_PROPERTIES`
 * @returns the value, whose type depends on `name`
 * @throws OpenCLError INVALID_CONTEXT, INVALID_VALUE
 * @example
 * ```ts
 * const devices = cl.getContextInfo(context, cl.CONTEXT_DEVICES);
 * ```
 */
export function getContextInfo(context: Context, name: number): InfoValue {
  return native().getContextInfo(context, name);
}

/**
 * Registers a callback for the destruction of a context. Calls clSetContextDestructorCallback (OpenCL 3.0).
 *
 * @param context context to watch
 * @param notify called as (userData) on this thread when the driver destroys the context; it does not keep the process
 *   alive
 * @param userData passed to `notify`
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_CONTEXT, INVALID_VALUE
 * @example
 * ```ts
 * cl.setContextDestructorCallback(context, () => console.log('the context is gone'));
 * ```
 */
export function setContextDestructorCallback(
  context: Context,
  notify: (userData: unknown) => void,
  userData?: unknown,
): 0 {
  return native().setContextDestructorCallback(context, notify, userData);
}
