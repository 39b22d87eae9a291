/** Parsers for arguments about devices and algorithms. Importing this module loads the device modules. */
import { canonicalAlgorithm } from '../algorithms/algorithm-names.js';
import { ALGORITHMS } from '../algorithms/registry.js';
import { type DeviceInfo, devices } from '../device/platform/platform.js';
import {
  deviceSpecs,
  matchingDevices,
  rankDevices,
  selectDevices,
} from '../device/platform/select-device.js';
import { distinct } from '../util/distinct.js';
import { driverCacheHint } from '../util/driver-cache.js';
import { NoDeviceError, UsageError } from '../util/errors.js';
import { withAdvice } from '../util/invalid-argument.js';
import { invalidName } from '../util/suggest.js';
import type { Names } from './arguments.js';

/**
 * Returns the named algorithms; all algorithms when no name is given.
 *
 * @throws UsageError when a name is unknown
 */
export function readAlgorithms(names: Names): string[] {
  const known: string[] = ALGORITHMS.map(({ name }) => name);
  const named = names?.map(canonicalAlgorithm);
  for (const name of named ?? []) {
    if (!known.includes(name)) throw invalidName('--algorithm', name, known);
  }
  return known.filter((name) => named?.includes(name) ?? true);
}

const availableDevices = (): { readonly info: DeviceInfo }[] => devices().map((info) => ({ info }));

/**
 * Returns the devices that `--device` names; all devices when it is not given.
 *
 * @throws UsageError when a spec is malformed
 * @throws NoDeviceError when there is no device, or none matches
 */
export function readDevices(given: Names): DeviceInfo[] {
  const all = availableDevices();
  if (all.length === 0)
    throw new NoDeviceError(
      withAdvice(
        'cannot list the devices: the OpenCL drivers of this machine have none',
        `${driverCacheHint().trim()} Run clsort doctor`.trim(),
      ),
    );
  return selectDevices(deviceSpecs(given ?? ['all']), all).map(({ info }) => info);
}

/**
 * Returns the device that `--device` names, for a command that works on one device. A spec that matches several selects
 * the best of them.
 *
 * @param who name of the command, for the error message
 * @throws UsageError when several specs name several devices
 * @throws NoDeviceError when no device matches
 */
export function readDevice(given: Names, who: string): DeviceInfo {
  const specs = deviceSpecs(given ?? ['auto']);
  const named = selectDevices(specs, availableDevices());
  if (specs.length > 1 && named.length > 1) {
    const list = named.map(({ info }) => `${info.id} ${info.name}`).join('; ');
    throw new UsageError(
      `expected one device for --device of clsort ${who} but got ${named.length}: ${list}`,
    );
  }
  return (rankDevices(named)[0] as { readonly info: DeviceInfo }).info; // never empty
}

const isOne = (spec: string): boolean => spec === 'auto' || spec === 'host' || /^\d+:\d+$/.test(spec);

/**
 * Returns one spec per device that the given specs name, `host` included, without duplicates. A spec that matches
 * exactly one device is returned unchanged.
 *
 * @throws UsageError when a spec is malformed
 * @throws NoDeviceError when a spec matches no device
 */
export function readDeviceList(given: readonly string[]): string[] {
  const specs = deviceSpecs(given);
  if (specs.every(isOne)) return distinct(specs); // needs no driver
  const all = availableDevices();
  const taken = new Set<unknown>();
  return distinct(specs).flatMap((spec) => {
    if (spec === 'host') return [spec];
    const matching = matchingDevices(spec, all);
    const others = matching.filter((one) => !taken.has(one));
    for (const one of others) taken.add(one);
    return matching.length === 1 && others.length === 1 ? [spec] : others.map(({ info }) => info.id);
  });
}

/** Identifies a device across processes: positions in the device list may differ between processes, names do not. */
export const childName = ({ platform, name }: DeviceInfo): string => `${platform}\n${name}`;

/**
 * Returns the device that a parent process named.
 *
 * @throws NoDeviceError when it is no longer available
 */
export function deviceOfChild(text: string): DeviceInfo {
  const device = devices().find((one) => childName(one) === text);
  if (device) return device;
  throw new NoDeviceError(`cannot open '${text}': the device is no longer available. Run clsort doctor`);
}
