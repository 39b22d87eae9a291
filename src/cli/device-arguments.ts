/** How the text of arguments about devices and what runs on them is read: these bring what belongs to devices along. */
import { ALGORITHMS } from '../algorithms/registry.js';
import { type DeviceInfo, devices } from '../device/platform.js';
import { matchingDevices } from '../device/select.js';
import { NoDeviceError, UsageError } from '../util/errors.js';
import { unknownName } from '../util/suggest.js';
import type { Names } from './arguments.js';

/** The algorithms that are named, all where none is. @throws UsageError for an unknown one */
export function readAlgorithms(names: Names): string[] {
  const known = ALGORITHMS.map(({ name }) => name);
  for (const name of names ?? []) {
    if (!known.includes(name)) throw new UsageError(unknownName('algorithm', name, known));
  }
  return known.filter((name) => names?.includes(name) ?? true);
}

/**
 * The devices that any of the specs names, as `sort --device` understands them; all where there is none.
 *
 * @throws UsageError, NoDeviceError
 */
export function readDevices(specs: Names): DeviceInfo[] {
  const found = devices().map((info) => ({ info }));
  if (found.length === 0) throw new NoDeviceError('the OpenCL drivers of this machine have no device');
  const wanted = new Set((specs ?? ['auto']).flatMap((spec) => matchingDevices(spec, found)));
  return found.filter((one) => wanted.has(one)).map(({ info }) => info);
}
