/** How the text of arguments about devices and what runs on them is read: these bring what belongs to devices along. */
import { canonicalAlgorithm } from '../algorithms/algorithm-names.js';
import { ALGORITHMS } from '../algorithms/registry.js';
import { type DeviceInfo, devices } from '../device/platform.js';
import { deviceSpecs, matchingDevices, rankDevices, selectDevices } from '../device/select-device.js';
import { distinct } from '../util/distinct.js';
import { driverCacheHint } from '../util/driver-cache.js';
import { NoDeviceError, UsageError } from '../util/errors.js';
import { unknownName } from '../util/suggest.js';
import type { Names } from './arguments.js';

/** The algorithms that are named, all where none is. @throws UsageError for an unknown one */
export function readAlgorithms(names: Names): string[] {
  const known = ALGORITHMS.map(({ name }) => name);
  const named = names?.map(canonicalAlgorithm);
  for (const name of named ?? []) {
    if (!known.includes(name)) throw new UsageError(unknownName('algorithm', name, known));
  }
  return known.filter((name) => named?.includes(name) ?? true);
}

const availableDevices = (): { readonly info: DeviceInfo }[] => devices().map((info) => ({ info }));

/**
 * The devices that --device names; all where it is not given.
 *
 * @throws UsageError, NoDeviceError
 */
export function readDevices(given: Names): DeviceInfo[] {
  const all = availableDevices();
  if (all.length === 0)
    throw new NoDeviceError(`the OpenCL drivers of this machine have no device.${driverCacheHint()}`);
  return selectDevices(deviceSpecs(given ?? ['all']), all).map(({ info }) => info);
}

/**
 * The device that --device names, for who works on one: of a spec that several match the best.
 *
 * @param who works on it
 * @throws UsageError where several specs name several; NoDeviceError
 */
export function readDevice(given: Names, who: string): DeviceInfo {
  const specs = deviceSpecs(given ?? ['auto']);
  const named = selectDevices(specs, availableDevices());
  if (specs.length > 1 && named.length > 1) {
    const list = named.map(({ info }) => `${info.id} ${info.name}`).join('; ');
    throw new UsageError(
      `${who} works on one device, and --device names ${named.length}: ${list}; name one of them`,
    );
  }
  return (rankDevices(named)[0] as { readonly info: DeviceInfo }).info; // there is one at least
}

const isOne = (spec: string): boolean => spec === 'auto' || spec === 'host' || /^\d+:\d+$/.test(spec);

/**
 * What to open for each device that specs name, `host` among them, each once: the spec itself where it names one.
 *
 * @throws UsageError, NoDeviceError
 */
export function readDeviceList(given: readonly string[]): string[] {
  const specs = deviceSpecs(given);
  if (specs.every(isOne)) return distinct(specs); // nothing is asked of any driver
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
