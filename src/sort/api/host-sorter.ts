/** Sorters without a device, for callers that do not even load the code that controls one. */
import { minKeysForDevices } from '../../algorithms/tuning.js';
import type { ClsortError } from '../../util/errors.js';
import { HostBackend } from '../backend/host-backend.js';
import { MIN_KEYS_TO_OPEN_DEVICE } from '../backend/policy.js';
import { SorterOperations } from './sorter-operations.js';

type Warn = (warning: ClsortError) => void;

/** Returns the reason in plans for sorting few keys on the host although there may be a device. */
export const hostIsFaster = (below: number): string => `the host is faster below ${below} keys`;

/**
 * Returns a Sorter on the host engine, as `Sorter.open({ device: 'host' })` does.
 *
 * @param reason reason in plans
 */
export const hostSorter = (onWarning: Warn, reason = 'asked for'): SorterOperations =>
  new SorterOperations(new HostBackend(reason, { onWarning }), onWarning);

/**
 * Returns a Sorter on the host engine if it sorts up to `maxKeys` host keys faster than every known device. It sorts in
 * JavaScript, so that not even the addon is loaded. Otherwise returns undefined.
 */
export function smallHostSorter(maxKeys: number, onWarning: Warn): SorterOperations | undefined {
  const minDeviceKeys = minKeysForDevices();
  return maxKeys < minDeviceKeys
    ? new SorterOperations(new HostBackend(hostIsFaster(minDeviceKeys), { inJavaScript: true }), onWarning)
    : undefined;
}

/**
 * Returns a Sorter on the host engine for a process that sorts up to `maxKeys` host keys once, if the engine is done
 * sooner than a device is open. Otherwise returns undefined.
 */
export const startingHostSorter = (maxKeys: number, onWarning: Warn): SorterOperations | undefined =>
  smallHostSorter(maxKeys, onWarning) ??
  (maxKeys < MIN_KEYS_TO_OPEN_DEVICE
    ? hostSorter(
        onWarning,
        `the host sorts fewer than ${MIN_KEYS_TO_OPEN_DEVICE} keys before a device is open`,
      )
    : undefined);
