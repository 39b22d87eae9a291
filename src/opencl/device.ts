import { native } from './binding.js';
import type { Device, Platform } from './objects.js';
import type { Flags, HighLow, InfoValue, Properties } from './types.js';

/**
 * The devices of a platform. Calls clGetDeviceIDs.
 *
 * @param type a sum of `DEVICE_TYPE_…`, by default all
 * @throws DEVICE_NOT_FOUND when it has none of these, INVALID_PLATFORM, INVALID_DEVICE_TYPE
 */
export function getDeviceIDs(platform: Platform, ...type: [type?: Flags]): Device[] {
  return native().getDeviceIDs(platform, ...type);
}

/**
 * A fact about a device. Calls clGetDeviceInfo.
 *
 * @param name `DEVICE_NAME`, `DEVICE_GLOBAL_MEM_SIZE`, …
 * @returns a number, a boolean, text, an array, a handle, or [hi, lo] for the sizes that have 64 bits
 *   (`DEVICE_GLOBAL_MEM_SIZE`, `DEVICE_LOCAL_MEM_SIZE`, `DEVICE_MAX_MEM_ALLOC_SIZE`, …); bytes where the
 *   unit is not in the name
 * @throws INVALID_DEVICE, INVALID_VALUE for a name that the driver does not know
 */
export function getDeviceInfo(device: Device, name: number): InfoValue {
  return native().getDeviceInfo(device, name);
}

/**
 * Splits a device. Calls clCreateSubDevices (OpenCL 1.2).
 *
 * @param properties such as `[DEVICE_PARTITION_EQUALLY, 2]`; the final 0 is added
 * @returns the parts, each to be released
 * @throws INVALID_DEVICE, INVALID_VALUE, DEVICE_PARTITION_FAILED, INVALID_DEVICE_PARTITION_COUNT
 */
export function createSubDevices(device: Device, properties: Properties): Device[] {
  return native().createSubDevices(device, properties);
}

/**
 * Adds a reference to a sub-device. Calls clRetainDevice (OpenCL 1.2).
 *
 * @throws INVALID_DEVICE, also for a device that is no sub-device: those are not counted
 */
export function retainDevice(device: Device): 0 {
  return native().retainDevice(device);
}

/**
 * Gives a reference to a sub-device back. Calls clReleaseDevice (OpenCL 1.2).
 *
 * @throws INVALID_DEVICE, also for a device that is no sub-device: those are not counted
 */
export function releaseDevice(device: Device): 0 {
  return native().releaseDevice(device);
}

/**
 * The device's clock and the host's at the same moment, in nanoseconds. Calls clGetDeviceAndHostTimer
 * (OpenCL 2.1).
 *
 * @throws INVALID_DEVICE, INVALID_OPERATION where the driver has no such timer
 */
export function getDeviceAndHostTimer(device: Device): [device: HighLow, host: HighLow] {
  return native().getDeviceAndHostTimer(device);
}

/**
 * The host's clock as the device's events use it, in nanoseconds. Calls clGetHostTimer (OpenCL 2.1).
 *
 * @throws INVALID_DEVICE, INVALID_OPERATION where the driver has no such timer
 */
export function getHostTimer(device: Device): HighLow {
  return native().getHostTimer(device);
}
