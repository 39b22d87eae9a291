import * as cl from '../../opencl/index.js';
import { invalidArgument } from '../../util/invalid-argument.js';
import { amdHardware } from '../vendors/amd.js';
import { generalHardware } from '../vendors/general.js';
import { type DeviceQuery, type Hardware, numberFrom } from '../vendors/hardware.js';
import { intelHardware } from '../vendors/intel.js';
import { nvidiaHardware } from '../vendors/nvidia.js';
import { type DeviceInfo, toNumber } from './platform.js';
import { AS_SPECIFIED, type DriverBehaviour, type Quirks, quirksOf } from './quirks.js';

/** How work-items of a row vote: by masks in local memory, cl_khr_subgroup_ballot, or PTX in rows of 32 work-items. */
export type Vote = 'masks' | 'khr' | 'ptx';

/** Capabilities that no OpenCL extension announces: kernels have them by instructions of the vendor. */
interface VendorInstructions {
  /** Whether rows of 32 work-items vote, exchange values and synchronize by instructions of their own. */
  readonly hasBallot: boolean;
  /** Whether work-groups pass data to each other by acquire and release, also 64 bits at once. */
  readonly hasAcquireRelease: boolean;
  /** Whether the compiler can limit the registers of a work-item. */
  readonly limitsRegisters: boolean;
  /** Whether the driver reports the largest work-group of kernels without a fixed group size. */
  readonly reportsGroupLimit: boolean;
}

/** Capabilities of a device that the kernels and the planner rely on. */
export interface Capabilities
  extends VendorInstructions,
    Pick<DeviceInfo, 'type' | 'maxWorkGroup' | 'globalBytes' | 'maxAllocation'>,
    Pick<Hardware, 'architecture' | 'computeUnits' | 'groupLocalBytes' | 'unit' | 'subGroupSizes' | 'ptx'> {
  /** OpenCL version as a number: 1.1, 1.2, 3. */
  readonly version: number;
  /** Bytes of local memory that the driver reports; also the limit for local memory in kernel arguments. */
  readonly localBytes: number;
  /** Bytes of local memory that a kernel may declare (see `localBudgetOf`). */
  readonly localBudget: number;
  readonly extensions: ReadonlySet<string>;
  readonly fp64: boolean;
  readonly int64Atomics: boolean;
  /** The votes that kernels may use. */
  readonly votes: ReadonlySet<Vote>;
  /** Whether device and host share memory, so that nothing needs to be transferred. */
  readonly unifiedMemory: boolean;
  /** Whether device-scope atomics of OpenCL C 2.0 and later work, with which work-groups pass data to each other. */
  readonly deviceScopeAtomics: boolean;
  /** 32-bit words in a native vector, as the driver reports it: 16 with AVX-512, 1 if unknown. */
  readonly vectorWords: number;
  /** `vendor` key of the tuning table: nvidia, amd, intel, apple, pocl, mesa, oclgrind or other. */
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

/** Local memory of a group that NVIDIA's compiler reserves, and adds to the reported use of a kernel. */
const COMPILER_BYTES = 1024;

/**
 * Returns the bytes of local memory that a kernel may declare: `localBytes`, or `groupLocalBytes` less the compiler's
 * share where the device has more than the driver reports or takes inline PTX.
 */
export function localBudgetOf({
  localBytes,
  groupLocalBytes,
  quirks,
}: Pick<Capabilities, 'localBytes' | 'groupLocalBytes' | 'quirks'>): number {
  const exceedsReported = groupLocalBytes > localBytes * quirks.localBytesFactor;
  return exceedsReported || quirks.inlinePtx ? groupLocalBytes - COMPILER_BYTES : localBytes;
}

/** Returns the capabilities of a device whose compiler accepts inline PTX, or of one whose compiler does not. */
export const vendorInstructions = ({ inlinePtx }: Pick<Quirks, 'inlinePtx'>): VendorInstructions => ({
  hasBallot: inlinePtx,
  hasAcquireRelease: inlinePtx,
  limitsRegisters: inlinePtx,
  // NVIDIA's driver reports 256 for every such kernel, but runs larger groups.
  reportsGroupLimit: !inlinePtx,
});

/** Returns the votes of a device. */
export const votesOf = (
  { inlinePtx }: Pick<Quirks, 'inlinePtx'>,
  hasSubGroupBallot: boolean,
): ReadonlySet<Vote> =>
  new Set<Vote>([
    'masks',
    ...(hasSubGroupBallot ? (['khr'] as const) : []),
    ...(inlinePtx ? (['ptx'] as const) : []),
  ]);

/** Vendor queries, by the extension that announces them. */
const VENDORS = [
  ['cl_nv_device_attribute_query', nvidiaHardware],
  ['cl_amd_device_attribute_query', amdHardware],
  ['cl_intel_device_attribute_query', intelHardware],
  ['cl_intel_required_subgroup_size', intelHardware],
] as const;

/**
 * Queries the capabilities of a device.
 *
 * @param info description of the device
 * @param query queries its driver
 * @param behaviour what a probe of the driver found; default: no deviations
 * @throws UsageError when CLSORT_LOCAL_BYTES is not a whole number of bytes above 0
 */
export function capabilitiesOf(
  info: DeviceInfo,
  query: DeviceQuery,
  behaviour: DriverBehaviour = AS_SPECIFIED,
): Capabilities {
  const extensions = new Set(
    String(query(cl.DEVICE_EXTENSIONS) ?? '')
      .replaceAll('\0', '')
      .split(/\s+/)
      .filter(Boolean),
  );
  const version = Number(info.version);
  const driver = quirksOf(info, behaviour);
  // A driver that reports 3.0 but does not know this query has no such atomics.
  const scope = version >= 3 ? toNumber(query(cl.DEVICE_ATOMIC_MEMORY_CAPABILITIES) ?? 0) : 0;
  const words = `${info.platform} ${info.vendor} ${info.name}`;
  const hardware = limitLocalMemory(hardwareOf(info, extensions, query));
  const { architecture, computeUnits, groupLocalBytes, unit, subGroupSizes, sharesMemory } = hardware;
  // The driver may accept inline PTX that the device cannot run, so both are checked.
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
    votes: votesOf(quirks, extensions.has('cl_khr_subgroup_ballot')),
    ...vendorInstructions(quirks),
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
  // CPU devices also list extensions of GPUs.
  const vendor = info.type === 'gpu' && VENDORS.find(([extension]) => extensions.has(extension));
  return vendor ? vendor[1](general, info, query) : general;
}

/**
 * Limits the local memory of a group to CLSORT_LOCAL_BYTES, to measure the cost of a smaller one. Compute units keep
 * their memory, so that as many groups as before run on one.
 */
function limitLocalMemory(hardware: Hardware): Hardware {
  const wanted = process.env.CLSORT_LOCAL_BYTES;
  if (wanted === undefined || wanted === '') return hardware;
  const bytes = Number(wanted);
  if (!Number.isInteger(bytes) || bytes < 1) {
    throw invalidArgument('CLSORT_LOCAL_BYTES', 'a whole number of bytes above 0', wanted);
  }
  return { ...hardware, groupLocalBytes: Math.min(hardware.groupLocalBytes, bytes) };
}
