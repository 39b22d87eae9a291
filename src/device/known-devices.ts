import type { KnownDevice } from './device.js';
import { knownBehaviour } from './driver-probe.js';
import { capabilitiesOf } from './platform/capabilities.js';
import { type FoundDevice, findDevices, queryOf } from './platform/platform.js';
import { selectDevice } from './platform/select-device.js';
import { typedError } from './platform/status.js';

/**
 * Returns every device of this machine with its capabilities, without opening any.
 *
 * @throws NoLoaderError when there is no OpenCL loader
 * @throws NoPlatformError when no driver is installed
 * @throws MemoryError or DeviceLostError when a driver fails
 */
export function knownDevices(): KnownDevice[] {
  return findDevices().map(known);
}

/**
 * Returns the best device of this machine with its capabilities, without opening it.
 *
 * @throws NoDeviceError when there is no device
 * @throws the errors of `knownDevices`
 */
export const bestKnownDevice = (): KnownDevice => known(selectDevice('auto', findDevices()));

function known({ info, handle }: FoundDevice): KnownDevice {
  try {
    return { info, capabilities: capabilitiesOf(info, queryOf(handle), knownBehaviour(info)) };
  } catch (error) {
    throw typedError(error, `query ${info.name}`);
  }
}
