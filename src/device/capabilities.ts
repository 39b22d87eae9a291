import * as cl from '../opencl/index.js';
import { UsageError } from '../util/errors.js';
import { amdHardware } from './amd.js';
import { generalHardware } from './general.js';
import { type DeviceQuery, type Hardware, numberFrom } from './hardware.js';
import { intelHardware } from './intel.js';
import { nvidiaHardware } from './nvidia.js';
import { type DeviceInfo, toNumber } from './platform.js';
import { type Quirks, quirksOf } from './quirks.js';

/** What kernels and the planner may rely on. */
export interface Capabilities
  extends Pick<
    Hardware,
    'architecture' | 'computeUnits' | 'groupLocalBytes' | 'unit' | 'subGroupSizes' | 'ptx'
  > {
  readonly type: DeviceInfo['type'];
  /** OpenCL version as a number: 1.1, 1.2, 3. */
  readonly version: number;
  readonly maxWorkGroup: number;
  /** Bytes of local memory that the driver admits, of which a group may have what it is given as arguments. */
  readonly localBytes: number;
  /** Bytes of local memory that a kernel may declare: `groupLocalBytes` less what a compiler takes of it for itself. */
  readonly localBudget: number;
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
  /** Words of 32 bits in a vector of the device's own, as its driver says: 16 with AVX-512, 1 where none tells. */
  readonly vectorWords: number;
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

/** What NVIDIA's compiler takes of a group's local memory for itself, and adds to what a kernel is said to need. */
const COMPILER_BYTES = 1024;

/** The `localBudget` of a device with these other capabilities. */
export function localBudgetOf({
  localBytes,
  groupLocalBytes,
  quirks,
}: Pick<Capabilities, 'localBytes' | 'groupLocalBytes' | 'quirks'>): number {
  const exceedsReported = groupLocalBytes > localBytes * quirks.localBytesFactor;
  return exceedsReported || quirks.inlinePtx ? groupLocalBytes - COMPILER_BYTES : localBytes;
}

/** Who is asked what, by the extension that says that it may be asked. */
const VENDORS = [
  ['cl_nv_device_attribute_query', nvidiaHardware],
  ['cl_amd_device_attribute_query', amdHardware],
  ['cl_intel_device_attribute_query', intelHardware],
  ['cl_intel_required_subgroup_size', intelHardware],
] as const;

/** Asks a device what it can do. @throws UsageError when CLSORT_LOCAL_BYTES is no number of bytes */
export function capabilitiesOf(info: DeviceInfo, query: DeviceQuery): Capabilities {
  const extensions = new Set(
    String(query(cl.DEVICE_EXTENSIONS) ?? '')
      .replaceAll('\0', '')
      .split(/\s+/)
      .filter(Boolean),
  );
  const version = Number(info.version);
  const driver = quirksOf(info);
  // A driver that calls itself 3.0 and does not know the question has no such atomics.
  const scope = version >= 3 ? toNumber(query(cl.DEVICE_ATOMIC_MEMORY_CAPABILITIES) ?? 0) : 0;
  const words = `${info.platform} ${info.vendor} ${info.name}`;
  const hardware = limitLocalMemory(hardwareOf(info, extensions, query));
  const { architecture, computeUnits, groupLocalBytes, unit, subGroupSizes, sharesMemory } = hardware;
  // What the driver takes is one thing, what the device has another.
  const ptx = driver.inlinePtx && process.env.CLSORT_INLINE_PTX !== 'off' ? hardware.ptx : undefined;
  const quirks = { ...driver, inlinePtx: ptx !== undefined };
  const localBytes = Math.floor(Math.min(info.localBytes, groupLocalBytes) / quirks.localBytesFactor);
  return {
    type: info.type,
    version,
    architecture,
    computeUnits,
    maxWorkGroup: info.maxWorkGroup,
    localBytes,
    groupLocalBytes,
    localBudget: localBudgetOf({ localBytes, groupLocalBytes, quirks }),
    unit,
    subGroupSizes,
    globalBytes: info.globalBytes,
    maxAllocation: info.maxAllocation,
    extensions,
    subGroupBallot: extensions.has('cl_khr_subgroup_ballot'),
    fp64: extensions.has('cl_khr_fp64'),
    int64Atomics: extensions.has('cl_khr_int64_base_atomics'),
    unifiedMemory:
      info.type === 'cpu' || sharesMemory || numberFrom(query(cl.DEVICE_HOST_UNIFIED_MEMORY)) === 1,
    deviceScopeAtomics:
      hardware.unlistedAtomics ||
      (version >= 2 && version < 3) ||
      (scope & cl.DEVICE_ATOMIC_SCOPE_DEVICE) !== 0,
    vectorWords: numberFrom(query(cl.DEVICE_NATIVE_VECTOR_WIDTH_INT)) || 1,
    family: FAMILIES.find(([pattern]) => pattern.test(words))?.[1] ?? 'other',
    ptx,
    quirks,
  };
}

function hardwareOf(info: DeviceInfo, extensions: ReadonlySet<string>, query: DeviceQuery): Hardware {
  const general = generalHardware(info, query);
  // CPU devices list extensions of GPUs, too.
  const vendor = info.type === 'gpu' && VENDORS.find(([extension]) => extensions.has(extension));
  return vendor ? vendor[1](general, info, query) : general;
}

/**
 * The device as one whose groups have less local memory, where CLSORT_LOCAL_BYTES says so: for measuring what that costs.
 * Its units keep what they have, since as many groups as before run on one.
 */
function limitLocalMemory(hardware: Hardware): Hardware {
  const wanted = process.env.CLSORT_LOCAL_BYTES;
  if (wanted === undefined || wanted === '') return hardware;
  const bytes = Number(wanted);
  if (!Number.isInteger(bytes) || bytes < 1) {
    throw new UsageError(`CLSORT_LOCAL_BYTES is '${wanted}': expected a whole number of bytes above 0`);
  }
  return { ...hardware, groupLocalBytes: Math.min(hardware.groupLocalBytes, bytes) };
}
