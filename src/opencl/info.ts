import { native } from './binding.js';
import * as constants from './constants.js';
import { getDeviceIDs, getDeviceInfo } from './device.js';
import { getPlatformIDs, getPlatformInfo } from './platform.js';

/** The OpenCL loader, platforms and devices of this process, and the problems in reaching them. */
export interface OpenCLInfo {
  /** Path of the OpenCL loader; null without one. */
  loader: string | null;
  platforms: { name: string; vendor: string; version: string; devices: string[] }[];
  /** Reasons for missing platforms or devices. */
  problems: string[];
}

/**
 * Returns the loader, platforms and devices, for example for a bug report. Never throws.
 *
 * @returns what was found; errors are in `problems`
 * @example
 * ```ts
 * console.log(cl.openclInfo().platforms.map(({ name, devices }) => `${name}: ${devices}`));
 * ```
 */
export function openclInfo(): OpenCLInfo {
  const info: OpenCLInfo = { loader: null, platforms: [], problems: [] };
  try {
    const { path, problem } = native().loaderInfo();
    info.loader = path || null;
    if (!path) info.problems.push(problem);
    for (const platform of getPlatformIDs()) {
      const name = getPlatformInfo(platform, constants.PLATFORM_NAME);
      let devices: string[] = [];
      try {
        devices = getDeviceIDs(platform).map((device) => getDeviceInfo(device, constants.DEVICE_NAME));
      } catch (error) {
        info.problems.push(`${name}: ${(error as Error).message}`);
      }
      info.platforms.push({
        name,
        vendor: getPlatformInfo(platform, constants.PLATFORM_VENDOR),
        version: getPlatformInfo(platform, constants.PLATFORM_VERSION),
        devices,
      });
    }
  } catch (error) {
    info.problems.push((error as Error).message);
  }
  return info;
}
