import { native } from './binding.js';
import type { Platform } from './objects.js';
import type { InfoValue } from './values.js';

/**
 * Returns all platforms (drivers) that the OpenCL loader finds. Calls clGetPlatformIDs. Their order may differ between
 * processes.
 *
 * @returns one handle for each platform
 * @throws NoLoaderError when no OpenCL loader is installed
 * @throws NoPlatformError when no driver is installed; both messages name what to install
 * @example
 * ```ts
 * for (const platform of cl.getPlatformIDs()) console.log(cl.getPlatformInfo(platform, cl.PLATFORM_NAME));
 * ```
 */
export function getPlatformIDs(): Platform[] {
  return native().getPlatformIDs();
}

/**
 * Returns information about a platform. Calls clGetPlatformInfo.
 *
 * @param platform platform to query
 * @param name `PLATFORM_NAME`, `PLATFORM_VERSION`, …
 * @returns text; an array of { name, version } for `PLATFORM_EXTENSIONS_WITH_VERSION`
 * @throws OpenCLError INVALID_PLATFORM; INVALID_VALUE when the driver does not know the name
 * @example
 * ```ts
 * const name = cl.getPlatformInfo(platform, cl.PLATFORM_NAME);
 * ```
 */
export function getPlatformInfo(platform: Platform, name: number): InfoValue {
  return native().getPlatformInfo(platform, name);
}

/**
 * Allows a driver to unload its compiler until the next use. Calls clUnloadPlatformCompiler (OpenCL 1.2).
 *
 * @param platform platform of the compiler
 * @returns SUCCESS (0)
 * @throws OpenCLError INVALID_PLATFORM
 * @example
 * ```ts
 * cl.unloadPlatformCompiler(platform);
 * ```
 */
export function unloadPlatformCompiler(platform: Platform): 0 {
  return native().unloadPlatformCompiler(platform);
}

/**
 * Allows the driver that the OpenCL loader selects to unload its compiler. Calls clUnloadCompiler, which OpenCL 1.2
 * replaced by `unloadPlatformCompiler`.
 *
 * @returns SUCCESS (0)
 * @example
 * ```ts
 * cl.unloadCompiler();
 * ```
 */
export function unloadCompiler(): 0 {
  return native().unloadCompiler();
}

/**
 * Declares that a driver must be called from one thread only. Asynchronous calls for its objects then run on the
 * JavaScript thread and block it. The setting belongs to this binding; OpenCL has no such call.
 *
 * @param platform platform of the driver
 * @param singleThreaded true for one thread; false, the default of a platform, for several
 * @example
 * ```ts
 * cl.setSingleThreaded(platform, true);
 * ```
 */
export function setSingleThreaded(platform: Platform, singleThreaded: boolean): void {
  native().setSingleThreaded(platform, singleThreaded);
}
