import { isMainThread } from 'node:worker_threads';
import * as cl from '../../opencl/index.js';
import { provideDriverCache } from '../../util/driver-cache.js';
import type { DeviceQuery } from '../vendors/hardware.js';
import { statusOf, typedError } from './status.js';

/** Type of an OpenCL device, as the driver reports it. */
export type DeviceType = 'cpu' | 'gpu' | 'accelerator' | 'other';

/** An OpenCL device, as `clsort devices` lists it. */
export interface DeviceInfo {
  /** `P:D`: index of the platform, and of the device in it. Valid within this process. */
  readonly id: string;
  readonly platform: string;
  readonly name: string;
  readonly vendor: string;
  readonly type: DeviceType;
  /** OpenCL version that the device implements, `major.minor`. */
  readonly version: string;
  /** Driver version, in the driver's own format. */
  readonly driver: string;
  readonly computeUnits: number;
  /** Bytes of device memory. */
  readonly globalBytes: number;
  /** Bytes of the largest single buffer. */
  readonly maxAllocation: number;
  /** Bytes of local memory per work-group. */
  readonly localBytes: number;
  /** Maximum work-items of a work-group. */
  readonly maxWorkGroup: number;
}

/** A device with its OpenCL handles. */
export interface FoundDevice {
  readonly info: DeviceInfo;
  readonly platform: cl.Platform;
  readonly handle: cl.Device;
}

/** Returns a 64-bit info value, `[high, low]` or a number, as a number. */
export function toNumber(value: unknown): number {
  if (Array.isArray(value)) return (value[0] >>> 0) * 2 ** 32 + (value[1] >>> 0);
  return Number(value);
}

/**
 * Returns a function that queries a device. It returns undefined for unknown queries and throws when the driver fails.
 */
export const queryOf =
  (handle: cl.Device): DeviceQuery =>
  (name) => {
    try {
      return cl.getDeviceInfo(handle, name);
    } catch (error) {
      const status = statusOf(error);
      if (status === cl.INVALID_VALUE.code || status === cl.INVALID_OPERATION.code) return undefined;
      throw error;
    }
  };

function deviceType(bits: number): DeviceType {
  if (bits & cl.DEVICE_TYPE_GPU) return 'gpu';
  if (bits & cl.DEVICE_TYPE_CPU) return 'cpu';
  if (bits & cl.DEVICE_TYPE_ACCELERATOR) return 'accelerator';
  return 'other';
}

const text = (value: unknown): string => String(value).replaceAll('\0', '').trim();

function describe(id: string, platform: cl.Platform, device: cl.Device): DeviceInfo {
  const query = (name: number): unknown => cl.getDeviceInfo(device, name);
  return {
    id,
    platform: text(cl.getPlatformInfo(platform, cl.PLATFORM_NAME)),
    name: text(query(cl.DEVICE_NAME)),
    vendor: text(query(cl.DEVICE_VENDOR)),
    type: deviceType(toNumber(query(cl.DEVICE_TYPE))),
    version: /OpenCL (\d+\.\d+)/.exec(text(query(cl.DEVICE_VERSION)))?.[1] ?? '1.0',
    driver: text(query(cl.DRIVER_VERSION)),
    computeUnits: toNumber(query(cl.DEVICE_MAX_COMPUTE_UNITS)),
    globalBytes: toNumber(query(cl.DEVICE_GLOBAL_MEM_SIZE)),
    maxAllocation: toNumber(query(cl.DEVICE_MAX_MEM_ALLOC_SIZE)),
    localBytes: toNumber(query(cl.DEVICE_LOCAL_MEM_SIZE)),
    maxWorkGroup: toNumber(query(cl.DEVICE_MAX_WORK_GROUP_SIZE)),
  };
}

/** Returns the devices of a platform; empty if it has none. */
function devicesOf(platform: cl.Platform): cl.Device[] {
  try {
    return cl.getDeviceIDs(platform, cl.DEVICE_TYPE_ALL);
  } catch (error) {
    if (statusOf(error) === cl.DEVICE_NOT_FOUND.code) return [];
    throw error;
  }
}

/**
 * Returns every device of every platform, with its handles.
 *
 * @throws NoLoaderError when there is no OpenCL loader
 * @throws NoPlatformError when no driver is installed
 * @throws MemoryError or DeviceLostError when a driver fails
 */
export function findDevices(): FoundDevice[] {
  if (isMainThread) provideDriverCache();
  try {
    return cl.getPlatformIDs().flatMap((platform, p) =>
      devicesOf(platform).map((handle, d) => ({
        info: describe(`${p}:${d}`, platform, handle),
        platform,
        handle,
      })),
    );
  } catch (error) {
    throw typedError(error, 'list the devices');
  }
}

/**
 * Lists the OpenCL devices of this machine, without opening any.
 *
 * @returns the devices of all platforms, in the order in which the loader reports them
 * @throws NoLoaderError when there is no OpenCL loader
 * @throws NoPlatformError when no driver is installed
 * @throws MemoryError or DeviceLostError when a driver fails
 * @example
 * ```ts
 * for (const { id, name, type } of devices()) console.log(id, name, type);
 * ```
 */
export function devices(): DeviceInfo[] {
  return findDevices().map(({ info }) => info);
}
