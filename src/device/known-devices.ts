import type { KnownDevice } from './device.js';
import { capabilitiesOf } from './platform/capabilities.js';
import { findDevices, queryOf } from './platform/platform.js';
import { typedError } from './platform/status.js';

/**
 * Returns every device of this machine with its capabilities, without opening any.
 *
 * @throws NoLoaderError when there is no OpenCL loader
 * @throws NoPlatformError when no driver is installed
 * @throws MemoryError or DeviceLostError when a driver fails
 */
export function knownDevices(): KnownDevice[] {
  return findDevices().map(({ info, handle }) => {
    try {
      return { info, capabilities: capabilitiesOf(info, queryOf(handle)) };
    } catch (error) {
      throw typedError(error, `query ${info.name}`);
    }
  });
}
