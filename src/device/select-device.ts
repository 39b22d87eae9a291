import { driverCacheHint } from '../util/driver-cache.js';
import { NoDeviceError, UsageError } from '../util/errors.js';
import { suggestion } from '../util/suggest.js';
import type { DeviceInfo } from './platform.js';

/** What to look for: one of `DEVICE_WORDS`, `P:D`, or a part of a device's or platform's name. */
export type DeviceSpec = string;

/** Specs that are no part of a name. `auto` is the best device, `host` none, the others are all of a kind. */
export const DEVICE_WORDS = ['auto', 'cpu', 'gpu', 'host', 'all'] as const;

const EXPECTED = "'auto', 'cpu', 'gpu', 'host', 'all', 'P:D' or a part of a name";

const ID_PATTERN = /^\d+:\d+$/;

/** GPUs before accelerators before CPUs; among those, the one with more units. */
const RANK = { gpu: 0, accelerator: 1, cpu: 2, other: 3 } as const;

/** The best first. */
export function rankDevices<D extends { info: DeviceInfo }>(candidates: readonly D[]): D[] {
  return candidates.toSorted(
    ({ info: a }, { info: b }) => RANK[a.type] - RANK[b.type] || b.computeUnits - a.computeUnits,
  );
}

/**
 * The specs of a text, which has commas between them; several texts are one list.
 *
 * @throws UsageError for an empty one
 */
export function deviceSpecs(texts: readonly string[]): DeviceSpec[] {
  const specs = texts.flatMap((text) => text.split(',')).map((spec) => spec.trim());
  if (specs.length === 0 || specs.includes('')) throw new UsageError(`empty device: expected ${EXPECTED}`);
  return specs;
}

const matchesSpec = ({ id, platform, name, type }: DeviceInfo, wanted: string): boolean => {
  if (wanted === 'all') return true;
  if (wanted === 'cpu' || wanted === 'gpu') return type === wanted;
  if (ID_PATTERN.test(wanted)) return id === wanted;
  return `${platform}\n${name}`.toLowerCase().includes(wanted.toLowerCase());
};

/**
 * The devices that `spec` names: `all`, `cpu`, `gpu` and parts of names may be several; `auto` is the best one.
 *
 * @returns at least one, in the order in which they were found
 * @throws UsageError for an empty spec and for `host`, which is no device; NoDeviceError when nothing matches
 */
export function matchingDevices<D extends { info: DeviceInfo }>(spec: DeviceSpec, found: readonly D[]): D[] {
  const wanted = spec.trim();
  if (wanted === '') throw new UsageError(`empty device: expected ${EXPECTED}`);
  if (wanted === 'host') {
    throw new UsageError(
      "device 'host' is the engine that sorts without OpenCL, and this needs an OpenCL device: " +
        "expected 'auto', 'cpu', 'gpu', 'all', 'P:D' or a part of a name; 'clsort devices' lists them",
    );
  }
  const matching =
    wanted === 'auto'
      ? rankDevices(found).slice(0, 1)
      : found.filter(({ info }) => matchesSpec(info, wanted));
  if (matching.length > 0) return matching;
  const list = found.map(({ info }) => `${info.id} ${info.name} (${info.type}, ${info.platform})`);
  throw new NoDeviceError(
    `no OpenCL device matches '${wanted}'; ${
      list.length > 0 ? `there ${list.length > 1 ? 'are' : 'is'}: ${list.join('; ')}` : 'there is none at all'
    }${suggestion(wanted, DEVICE_WORDS) || '.'} 'clsort devices' lists them; 'host' sorts without OpenCL.${
      list.length > 0 ? '' : driverCacheHint()
    }`,
    { details: { device: wanted, devices: found.map(({ info }) => info) } },
  );
}

/**
 * The devices that any of several specs names: one that two of them name counts once.
 *
 * @returns at least one, in the order in which they were found
 * @throws as `matchingDevices` does, for the first spec that nothing matches
 */
export function selectDevices<D extends { info: DeviceInfo }>(
  specs: readonly DeviceSpec[],
  found: readonly D[],
): D[] {
  const wanted = new Set(specs.flatMap((spec) => matchingDevices(spec, found)));
  if (wanted.size === 0) throw new UsageError(`no device: expected ${EXPECTED}`);
  return found.filter((one) => wanted.has(one));
}

/**
 * The device that `spec` names; the best of them where it names several.
 *
 * @throws as `matchingDevices` does
 */
export function selectDevice<D extends { info: DeviceInfo }>(spec: DeviceSpec, found: readonly D[]): D {
  return rankDevices(matchingDevices(spec, found))[0] as D; // there is at least one
}
