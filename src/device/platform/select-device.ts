import { driverCacheHint } from '../../util/driver-cache.js';
import { NoDeviceError } from '../../util/errors.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { didYouMean } from '../../util/suggest.js';
import type { DeviceInfo } from './platform.js';

/** Which devices to use: one of `DEVICE_WORDS`, `P:D`, or a part of a device's or platform's name. */
export type DeviceSpec = string;

/** Specs that are not a part of a name. `auto` is the best device, `host` none; the others match all of a type. */
export const DEVICE_WORDS = ['auto', 'cpu', 'gpu', 'host', 'all'] as const;

const EXPECTED = "'auto', 'cpu', 'gpu', 'host', 'all', 'P:D' or a part of a name";

const ADVICE = "'clsort devices' lists the devices";

const ID_PATTERN = /^\d+:\d+$/;

/** Order of device types. Devices of the same type are ordered by compute units, the most first. */
const RANK = { gpu: 0, accelerator: 1, cpu: 2, other: 3 } as const;

/** Sorts devices, the best first. */
export function rankDevices<D extends { info: DeviceInfo }>(candidates: readonly D[]): D[] {
  return candidates.toSorted(
    ({ info: a }, { info: b }) => RANK[a.type] - RANK[b.type] || b.computeUnits - a.computeUnits,
  );
}

/**
 * Splits comma-separated device specs. Several texts form one list.
 *
 * @throws UsageError when there is no spec or an empty one
 */
export function deviceSpecs(texts: readonly string[]): DeviceSpec[] {
  const specs = texts.flatMap((text) => text.split(',')).map((spec) => spec.trim());
  if (specs.length === 0 || specs.includes('')) throw invalidArgument('device', EXPECTED, texts.join(','));
  return specs;
}

const matchesSpec = ({ id, platform, name, type }: DeviceInfo, wanted: string): boolean => {
  if (wanted === 'all') return true;
  if (wanted === 'cpu' || wanted === 'gpu') return type === wanted;
  if (ID_PATTERN.test(wanted)) return id === wanted;
  return `${platform}\n${name}`.toLowerCase().includes(wanted.toLowerCase());
};

/**
 * Returns the devices that `spec` matches. `all`, `cpu`, `gpu` and parts of names may match several; `auto` matches
 * the best one.
 *
 * @returns at least one device, in the order in which they were found
 * @throws UsageError when the spec is empty or `host`, which is not a device
 * @throws NoDeviceError when nothing matches
 */
export function matchingDevices<D extends { info: DeviceInfo }>(spec: DeviceSpec, found: readonly D[]): D[] {
  const wanted = spec.trim();
  if (wanted === '') throw invalidArgument('device', EXPECTED, spec);
  if (wanted === 'host') throw invalidArgument('device', 'an OpenCL device', wanted, { advice: ADVICE });
  const matching =
    wanted === 'auto'
      ? rankDevices(found).slice(0, 1)
      : found.filter(({ info }) => matchesSpec(info, wanted));
  if (matching.length > 0) return matching;
  const list = found.map(({ info }) => `${info.id} ${info.name} (${info.type}, ${info.platform})`);
  const cause = list.length > 0 ? `available are ${list.join('; ')}` : 'no device is available';
  const meant = didYouMean(wanted, DEVICE_WORDS);
  const hint = list.length > 0 ? '' : driverCacheHint();
  const advice = `${meant === undefined ? '' : `${meant} `}${ADVICE}; 'host' sorts without OpenCL`;
  throw new NoDeviceError(
    `cannot find OpenCL device '${wanted}': ${cause}. ${advice}${hint && `.${hint}`}. For more, run clsort doctor`,
    { details: { device: wanted, devices: found.map(({ info }) => info) } },
  );
}

/**
 * Returns the devices that any of several specs matches, each once.
 *
 * @returns at least one device, in the order in which they were found
 * @throws UsageError when there is no spec, or as `matchingDevices`
 * @throws NoDeviceError for the first spec that matches nothing
 */
export function selectDevices<D extends { info: DeviceInfo }>(
  specs: readonly DeviceSpec[],
  found: readonly D[],
): D[] {
  const wanted = new Set(specs.flatMap((spec) => matchingDevices(spec, found)));
  if (wanted.size === 0) throw invalidArgument('devices', 'at least one device', specs);
  return found.filter((one) => wanted.has(one));
}

/**
 * Returns the best device that `spec` matches.
 *
 * @throws UsageError or NoDeviceError as `matchingDevices`
 */
export function selectDevice<D extends { info: DeviceInfo }>(spec: DeviceSpec, found: readonly D[]): D {
  return rankDevices(matchingDevices(spec, found))[0] as D; // there is at least one
}
