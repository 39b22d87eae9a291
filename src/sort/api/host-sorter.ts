/** Sorters without a device, for who would not even load what drives one. */
import { minKeysForDevices } from '../../algorithms/tuning.js';
import type { ClsortError } from '../../util/errors.js';
import { HostBackend } from '../backend/host-backend.js';
import { SorterOperations } from './sorter-operations.js';

type Warn = (warning: ClsortError) => void;

/** Why the host sorts few keys although there may be a device. */
export const hostIsFaster = (below: number): string => `the host sorts fewer than ${below} keys sooner`;

/** What `Sorter.open({ device: 'host' })` opens. */
export const hostSorter = (onWarning: Warn): SorterOperations =>
  new SorterOperations(new HostBackend(), onWarning);

/**
 * A Sorter for at most so many keys in host memory, which the host sorts sooner than every device that is known, and
 * sooner than one is opened; undefined where they are too many.
 */
export function smallHostSorter(maxKeys: number, onWarning: Warn): SorterOperations | undefined {
  const minDeviceKeys = minKeysForDevices();
  return maxKeys < minDeviceKeys
    ? new SorterOperations(new HostBackend(hostIsFaster(minDeviceKeys)), onWarning)
    : undefined;
}
