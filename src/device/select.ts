import { NoDeviceError, UsageError } from '../util/errors.js';
import { suggestion } from '../util/suggest.js';
import type { DeviceInfo } from './platform.js';

/** What to look for: `auto`, `cpu`, `gpu`, `P:D` or a part of a device's or platform's name. */
export type DeviceSpec = string;

const byId = /^\d+:\d+$/;

/** GPUs before accelerators before CPUs; among those, the one with more units. */
const RANK = { gpu: 0, accelerator: 1, cpu: 2, other: 3 } as const;

/** @param candidates  at least one */
function best<D extends { info: DeviceInfo }>(candidates: readonly D[]): D {
  const isBefore = (a: DeviceInfo, b: DeviceInfo): boolean =>
    (RANK[a.type] - RANK[b.type] || b.computeUnits - a.computeUnits) < 0;
  return candidates.reduce((one, other) => (isBefore(other.info, one.info) ? other : one));
}

/**
 * The devices that `spec` names: `cpu` and `gpu` are all of that type, `auto` is any.
 *
 * @returns at least one
 * @throws UsageError for an empty spec and for `host`, which is no device; NoDeviceError when nothing matches
 */
export function matchingDevices<D extends { info: DeviceInfo }>(spec: DeviceSpec, found: readonly D[]): D[] {
  const wanted = spec.trim();
  if (wanted === '') {
    throw new UsageError("empty device: expected 'auto', 'cpu', 'gpu', 'host', 'P:D' or a part of a name");
  }
  if (wanted === 'host') {
    throw new UsageError(
      "device 'host' is the engine that sorts without OpenCL, and this needs an OpenCL device: " +
        "expected 'auto', 'cpu', 'gpu', 'P:D' or a part of a name; 'clsort devices' lists them",
    );
  }
  const matches = (({ info }: D) => {
    if (wanted === 'auto') return true;
    if (wanted === 'cpu' || wanted === 'gpu') return info.type === wanted;
    if (byId.test(wanted)) return info.id === wanted;
    const words = `${info.platform}\n${info.name}`.toLowerCase();
    return words.includes(wanted.toLowerCase());
  }) satisfies (device: D) => boolean;
  const matching = found.filter(matches);
  if (matching.length > 0) return matching;
  const list = found.map(({ info }) => `${info.id} ${info.name} (${info.type}, ${info.platform})`);
  throw new NoDeviceError(
    `no OpenCL device matches '${wanted}'; ${
      list.length > 0 ? `there ${list.length > 1 ? 'are' : 'is'}: ${list.join('; ')}` : 'there is none at all'
    }${suggestion(wanted, ['auto', 'cpu', 'gpu', 'host']) || '.'} 'clsort devices' lists them; 'host' sorts without OpenCL.`,
    { details: { device: wanted, devices: found.map(({ info }) => info) } },
  );
}

/**
 * The device that `spec` names; the best of them where it names several.
 *
 * @throws as `matchingDevices` does
 */
export function selectDevice<D extends { info: DeviceInfo }>(spec: DeviceSpec, found: readonly D[]): D {
  return best(matchingDevices(spec, found));
}
