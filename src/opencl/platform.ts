import { native } from './binding.js';
import type { Platform } from './objects.js';
import type { InfoValue } from './types.js';

/**
 * All platforms (drivers) that the loader knows; their order may change from process to process.
 * Calls clGetPlatformIDs.
 *
 * @throws NoLoaderError, NoPlatformError with what to install
 */
export function getPlatformIDs(): Platform[] {
  return native().getPlatformIDs();
}

/**
 * A fact about a platform. Calls clGetPlatformInfo.
 *
 * @param name `PLATFORM_NAME`, `PLATFORM_VERSION`, …
 * @returns text; a list of { name, version } for `PLATFORM_EXTENSIONS_WITH_VERSION`
 * @throws INVALID_PLATFORM, INVALID_VALUE for a name that the driver does not know
 */
export function getPlatformInfo(platform: Platform, name: number): InfoValue {
  return native().getPlatformInfo(platform, name);
}

/**
 * Lets a driver give up its compiler until it is needed again. Calls clUnloadPlatformCompiler (OpenCL 1.2).
 *
 * @throws INVALID_PLATFORM
 */
export function unloadPlatformCompiler(platform: Platform): 0 {
  return native().unloadPlatformCompiler(platform);
}

/**
 * The same for whatever driver the loader picks. Calls clUnloadCompiler, which OpenCL 1.2 replaced by
 * `unloadPlatformCompiler`.
 */
export function unloadCompiler(): 0 {
  return native().unloadCompiler();
}

/**
 * Tells the binding that a driver must be called from one thread only: from now on the asynchronous calls
 * for its objects do their work on the JavaScript thread, and block it. There is no such OpenCL call.
 */
export function setSingleThreaded(platform: Platform, singleThreaded: boolean): void {
  native().setSingleThreaded(platform, singleThreaded);
}
