import { NoDeviceError, UsageError } from '../util/errors.js';
import type { DeviceInfo } from './platform.js';

/** What to look for: `auto`, `cpu`, `gpu`, `P:D` or a part of a device's or platform's name. */
export type DeviceSpec = string;

const byId = /^\d+:\d+$/;

/** GPUs before accelerators before CPUs; among those, the one with more units. */
const RANK = { gpu: 0, accelerator: 1, cpu: 2, other: 3 } as const;

function best<D extends { info: DeviceInfo }>(candidates: readonly D[]): D | undefined {
  return candidates.toSorted(
    (a, b) => RANK[a.info.type] - RANK[b.info.type] || b.info.computeUnits - a.info.computeUnits,
  )[0];
}

/**
 * The device that `spec` names.
 *
 * @throws UsageError for an empty spec, NoDeviceError when nothing matches
 */
export function selectDevice<D extends { info: DeviceInfo }>(spec: DeviceSpec, found: readonly D[]): D {
  const wanted = spec.trim();
  if (wanted === '') {
    throw new UsageError("empty device: expected 'auto', 'cpu', 'gpu', 'host', 'P:D' or a part of a name");
  }
  const matches = (({ info }: D) => {
    if (wanted === 'auto') return true;
    if (wanted === 'cpu' || wanted === 'gpu') return info.type === wanted;
    if (byId.test(wanted)) return info.id === wanted;
    const words = `${info.platform}\n${info.name}`.toLowerCase();
    return words.includes(wanted.toLowerCase());
  }) satisfies (device: D) => boolean;
  const device = best(found.filter(matches));
  if (device) return device;
  const list = found.map(({ info }) => `${info.id} ${info.name} (${info.type}, ${info.platform})`);
  throw new NoDeviceError(
    `no OpenCL device matches '${wanted}'; ${
      list.length > 0 ? `there ${list.length > 1 ? 'are' : 'is'}: ${list.join('; ')}` : 'there is none at all'
    }. 'clsort devices' lists them; 'host' sorts without OpenCL.`,
    { details: { device: wanted, devices: found.map(({ info }) => info) } },
  );
}
