import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KnownDevice } from '../../src/device/device.js';
import { type Capabilities, capabilitiesOf, localBudgetOf } from '../../src/device/platform/capabilities.js';
import type { DeviceInfo, DeviceType } from '../../src/device/platform/platform.js';
import type { DeviceQuery } from '../../src/device/vendors/hardware.js';
import * as cl from '../../src/opencl/index.js';
import { packageRoot } from '../../src/util/paths.js';

/** The answers of the driver of a real device, by the names of the constants. */
export interface Profile {
  readonly key: string;
  /** Sources of the answers; `public knowledge` if no dump is published. */
  readonly sources: readonly string[];
  /** Limits of the hardware, independent of the driver. */
  readonly limits: {
    /** Bytes of local memory that a kernel may declare. */ readonly groupLocalBytes: number;
  };
  readonly platform: Readonly<Record<string, string>>;
  readonly device: Readonly<Record<string, Answer>>;
}

export type Answer = string | number | boolean | readonly number[];

export const PROFILES: readonly Profile[] = JSON.parse(
  readFileSync(join(packageRoot, 'test/device/profiles.json'), 'utf8'),
);

/** @throws when no profile has that key */
export function profileNamed(key: string): Profile {
  const found = PROFILES.find((profile) => profile.key === key);
  if (!found) throw new Error(`no profile '${key}'`);
  return found;
}

/** The number of a constant of the binding. */
export function constantNamed(name: string): number {
  const value = (cl as unknown as Readonly<Record<string, unknown>>)[name];
  if (typeof value !== 'number') throw new Error(`the binding has no constant ${name}`);
  return value;
}

const sizeBytes = (sizes: readonly number[]): Buffer => {
  const words = BigUint64Array.from(sizes, BigInt);
  return Buffer.from(words.buffer);
};

/** The answers in the form that the driver gives them, through the binding. */
function queryOf({ device }: Profile): DeviceQuery {
  const answers = new Map(Object.entries(device).map(([name, value]) => [constantNamed(name), value]));
  return (name) => {
    const answer = answers.get(name);
    return Array.isArray(answer) ? sizeBytes(answer) : answer;
  };
}

/** The device of a profile, as far as plans and parameters depend on it. */
export function knownDevice(profile: Profile): KnownDevice {
  const { device, platform } = profile;
  const text = (name: string): string => String(device[name]);
  const number = (name: string): number => Number(device[name]);
  const info: DeviceInfo = {
    id: '0:0',
    platform: String(platform.PLATFORM_NAME),
    name: text('DEVICE_NAME'),
    vendor: text('DEVICE_VENDOR'),
    type: text('DEVICE_TYPE') as DeviceType,
    version: /OpenCL (\d+\.\d+)/.exec(text('DEVICE_VERSION'))?.[1] ?? '1.0',
    driver: text('DRIVER_VERSION'),
    computeUnits: number('DEVICE_MAX_COMPUTE_UNITS'),
    globalBytes: number('DEVICE_GLOBAL_MEM_SIZE'),
    maxAllocation: number('DEVICE_MAX_MEM_ALLOC_SIZE'),
    localBytes: number('DEVICE_LOCAL_MEM_SIZE'),
    maxWorkGroup: number('DEVICE_MAX_WORK_GROUP_SIZE'),
  };
  return { info, capabilities: capabilitiesOf(info, queryOf(profile)) };
}

/** The same device with other limits, and the properties that follow from them. */
export function limited({ info, capabilities }: KnownDevice, limits: Partial<Capabilities>): KnownDevice {
  const own = { ...capabilities, ...limits };
  return { info, capabilities: { ...own, localBudget: localBudgetOf(own) } };
}
