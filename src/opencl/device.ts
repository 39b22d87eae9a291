import { native } from './binding.js';
import type { Device, Platform } from './objects.js';
import type { Properties } from './types.js';
import type { Flags, HighLow, InfoValue } from './values.js';

/**
 * Returns the devices of a platform. Calls clGetDeviceIDs.
 *
 * @param platform platform to query
 * @param type sum of `DEVICE_TYPE_…`; all devices by default
 * @returns one handle for each device
 * @throws OpenCLError DEVICE_NOT_FOUND when the platform has no device of the type, INVALID_PLATFORM,
 *   INVALID_DEVICE_TYPE
 * @example
 * ```ts
 * const gpus = cl.getDeviceIDs(platform, cl.DEVICE_TYPE_GPU);
 * ```
 */
export function getDeviceIDs(platform: Platform, ...type: [type?: Flags]): Device[] {
  return native().getDeviceIDs(platform, ...type);
}

/**
 * Returns information about a device. Calls clGetDeviceInfo.
 *
 * @param device device to query
 * @param name `DEVICE_NAME`, `DEVICE_GLOBAL_MEM_SIZE`, …
 * @returns a number, a boolean, text, an array, a handle, or [hi, lo] for sizes of 64 bits (`DEVICE_GLOBAL_MEM_SIZE`,
 *   `DEVICE_LOCAL_MEM_SIZE`, `DEVICE_MAX_MEM_ALLOC_SIZE`, …); sizes are in bytes unless the name has another unit
 * @throws OpenCLError INVALID_DEVICE; INVALID_VALUE when the driver does not know the name
 * @example
 * ```ts
 * const name = cl.getDeviceInfo(device, cl.DEVICE_NAME);
 * ```
 */
export function getDeviceInfo(device: Device, name: number): InfoValue {
  return native().getDeviceInfo(device, name);
}

/**
 * Partitions a device into sub-devices. Calls clCreateSubDevices (OpenCL 1.2).
 *
 * @param device device to partition
 * @param properties such as `[DEVICE_PARTITION_EQUALLY, 2]`; the final 0 is added
 * @returns the sub-devices; the caller releases each of them
 * @throws OpenCLError INVALID_DEVICE, INVALID_VALUE, DEVICE_PARTITION_FAILED, INVALID_DEVICE_PARTITION_COUNT
 * @example
 * ```ts
 * const halves = cl.createSubDevices(device, [cl.DEVICE_PARTITION_EQUALLY, 4]);
 * ```
 */
export function createSubDevices(device: Device, properties: Properties): Device[] {
  return native().createSubDevices(device, properties);
}

/**
 * Adds a reference to a sub-device. Calls clRetainDevice (OpenCL 1.2).
 *
 * @param device sub-device to retain
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_DEVICE, also for a root device, which has no reference count
 * @example
 * ```ts
 * cl.retainDevice(subDevice);
 * ```
 */
export function retainDevice(device: Device): 0 {
  return native().retainDevice(device);
}

/**
 * Removes a reference from a sub-device. Calls clReleaseDevice (OpenCL 1.2).
 *
 * @param device sub-device to release
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_DEVICE, also for a root device, which has no reference count
 * @example
 * ```ts
 * cl.releaseDevice(subDevice);
 * ```
 */
export function releaseDevice(device: Device): 0 {
  return native().releaseDevice(device);
}

/**
 * Returns the clocks of the device and of the host at the same moment. Calls clGetDeviceAndHostTimer (OpenCL 2.1).
 *
 * @param device device to query
 * @returns [device, host], each in nanoseconds as [hi, lo]
 * @throws OpenCLError INVALID_DEVICE; INVALID_OPERATION when the driver has no such timer
 * @example
 * ```ts
 * const [onDevice, onHost] = cl.getDeviceAndHostTimer(device);
 * ```
 */
export function getDeviceAndHostTimer(device: Device): [device: HighLow, host: HighLow] {
  return native().getDeviceAndHostTimer(device);
}

/**
 * Returns the clock of the host that belongs to `getDeviceAndHostTimer`. Calls clGetHostTimer (OpenCL 2.1).
 *
 * @param device device to query
 * @returns nanoseconds as [hi, lo]
 * @throws OpenCLError INVALID_DEVICE; INVALID_OPERATION when the driver has no such timer
 * @example
 * ```ts
 * const [high, low] = cl.getHostTimer(device);
 * ```
 */
export function getHostTimer(device: Device): HighLow {
  return native().getHostTimer(device);
}
