import * as cl from '../opencl/index.js';
import { type DeviceInfo, toNumber } from './platform.js';
import { type Quirks, quirksOf } from './quirks.js';

/** What kernels and the planner may rely on. */
export interface Capabilities {
  readonly type: DeviceInfo['type'];
  /** OpenCL version as a number: 1.1, 1.2, 3. */
  readonly version: number;
  readonly computeUnits: number;
  readonly maxWorkGroup: number;
  readonly localBytes: number;
  readonly globalBytes: number;
  readonly maxAllocation: number;
  readonly extensions: ReadonlySet<string>;
  /** cl_khr_subgroup_ballot and sub-groups at all. */
  readonly subGroupBallot: boolean;
  readonly fp64: boolean;
  readonly int64Atomics: boolean;
  /** Device and host share memory: there is nothing to transfer. */
  readonly unifiedMemory: boolean;
  /** Device-scope atomics of OpenCL C 2.0 and later, so that work-groups can hand data to each other. */
  readonly deviceScopeAtomics: boolean;
  /** `vendor` key of the tuning table: nvidia, amd, intel, pocl, mesa, oclgrind or other. */
  readonly family: string;
  readonly quirks: Quirks;
}

const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/portable computing language/i, 'pocl'],
  [/oclgrind/i, 'oclgrind'],
  [/rusticl|clover|mesa/i, 'mesa'],
  [/nvidia/i, 'nvidia'],
  [/advanced micro devices|\bamd\b/i, 'amd'],
  [/intel/i, 'intel'],
  [/apple/i, 'apple'],
];

/** Asks a device what it can do. */
export function capabilitiesOf(info: DeviceInfo, handle: cl.Device): Capabilities {
  const extensions = new Set(
    String(cl.getDeviceInfo(handle, cl.DEVICE_EXTENSIONS)).replaceAll('\0', '').split(/\s+/).filter(Boolean),
  );
  const version = Number(info.version);
  const quirks = quirksOf(info);
  const scope = version >= 3 ? askAtomics(handle) : 0;
  const words = `${info.platform} ${info.vendor} ${info.name}`;
  return {
    type: info.type,
    version,
    computeUnits: info.computeUnits,
    maxWorkGroup: info.maxWorkGroup,
    localBytes: info.localBytes,
    globalBytes: info.globalBytes,
    maxAllocation: info.maxAllocation,
    extensions,
    subGroupBallot: extensions.has('cl_khr_subgroup_ballot'),
    fp64: extensions.has('cl_khr_fp64'),
    int64Atomics: extensions.has('cl_khr_int64_base_atomics'),
    unifiedMemory: info.type === 'cpu' || cl.getDeviceInfo(handle, cl.DEVICE_HOST_UNIFIED_MEMORY) === true,
    deviceScopeAtomics:
      quirks.deviceAtomics || (version >= 2 && version < 3) || (scope & cl.DEVICE_ATOMIC_SCOPE_DEVICE) !== 0,
    family: FAMILIES.find(([pattern]) => pattern.test(words))?.[1] ?? 'other',
    quirks,
  };
}

function askAtomics(handle: cl.Device): number {
  try {
    return toNumber(cl.getDeviceInfo(handle, cl.DEVICE_ATOMIC_MEMORY_CAPABILITIES));
  } catch {
    return 0; // a driver that calls itself 3.0 and does not know the question has no such atomics
  }
}
