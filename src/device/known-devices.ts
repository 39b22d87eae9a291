import { capabilitiesOf } from './capabilities.js';
import type { KnownDevice } from './device.js';
import { findDevices, queryOf } from './platform.js';
import { typedError } from './status.js';

/**
 * Every device of this machine with what it can do, without opening any.
 *
 * @throws NoLoaderError, NoPlatformError; MemoryError, DeviceLostError where a driver fails
 */
export function knownDevices(): KnownDevice[] {
  return findDevices().map(({ info, handle }) => {
    try {
      return { info, capabilities: capabilitiesOf(info, queryOf(handle)) };
    } catch (error) {
      throw typedError(error, `asking ${info.name}`);
    }
  });
}
