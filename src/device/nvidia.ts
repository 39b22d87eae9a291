import * as cl from '../opencl/index.js';
import { type BasicHardware, countFrom, type DeviceQuery, type Hardware, numberFrom } from './hardware.js';

/** A multiprocessor of one compute capability: KiB of local memory of a group and of the unit, and work-items. */
interface Multiprocessor {
  readonly group: number;
  readonly unit: number;
  readonly items: number;
}

/**
 * "Technical Specifications per Compute Capability" of the CUDA C++ Programming Guide. The driver tells 48 KiB for all of
 * them; what is beyond can be had by arrays that a kernel declares.
 */
const MULTIPROCESSORS: Readonly<Record<string, Multiprocessor>> = {
  '5.0': { group: 48, unit: 64, items: 2048 },
  '5.2': { group: 48, unit: 96, items: 2048 },
  '5.3': { group: 48, unit: 64, items: 2048 },
  '6.0': { group: 48, unit: 64, items: 2048 },
  '6.1': { group: 48, unit: 96, items: 2048 },
  '6.2': { group: 48, unit: 64, items: 2048 },
  '7.0': { group: 96, unit: 96, items: 2048 },
  '7.2': { group: 96, unit: 96, items: 2048 },
  '7.5': { group: 64, unit: 64, items: 1024 },
  '8.0': { group: 163, unit: 164, items: 2048 },
  '8.6': { group: 99, unit: 100, items: 1536 },
  '8.7': { group: 163, unit: 164, items: 1536 },
  '8.9': { group: 99, unit: 100, items: 1536 },
  '9.0': { group: 227, unit: 228, items: 2048 },
  '10.0': { group: 227, unit: 228, items: 2048 },
  '10.1': { group: 227, unit: 228, items: 2048 },
  '10.3': { group: 227, unit: 228, items: 2048 },
  '11.0': { group: 227, unit: 228, items: 1536 },
  '12.0': { group: 99, unit: 100, items: 1536 },
  '12.1': { group: 99, unit: 100, items: 1536 },
};

/** From Ampere on a multiprocessor keeps so much of its local memory for each group. */
const RESERVED_GROUP_BYTES = 1024;

/**
 * What the driver says by cl_nv_device_attribute_query.
 *
 * @param general  what OpenCL tells; it stays where the compute capability is one that nobody knew when this was written
 */
export function nvidiaHardware(
  general: Hardware,
  { localBytes }: BasicHardware,
  query: DeviceQuery,
): Hardware {
  const major = numberFrom(query(cl.DEVICE_COMPUTE_CAPABILITY_MAJOR_NV));
  const minor = numberFrom(query(cl.DEVICE_COMPUTE_CAPABILITY_MINOR_NV));
  if (major === undefined || minor === undefined) return general;
  const known = MULTIPROCESSORS[`${major}.${minor}`];
  const groupLocalBytes = Math.max(localBytes, (known?.group ?? 0) * 1024);
  return {
    ...general,
    architecture: `sm_${major}${minor}`,
    groupLocalBytes,
    unit: {
      localBytes: Math.max(groupLocalBytes, (known?.unit ?? 0) * 1024),
      groupBytes: major >= 8 ? RESERVED_GROUP_BYTES : 0,
      registers: countFrom(query(cl.DEVICE_REGISTERS_PER_BLOCK_NV)) ?? general.unit.registers,
      items: known?.items ?? general.unit.items,
    },
    subGroupSizes: [countFrom(query(cl.DEVICE_WARP_SIZE_NV)) ?? 32],
    sharesMemory: numberFrom(query(cl.DEVICE_INTEGRATED_MEMORY_NV)) === 1,
    // Loads and stores of a scope, which look-back and meetings want, are Volta's and later.
    ptx: major >= 7 ? { match: true, redux: major >= 8 } : undefined,
    unlistedAtomics: major >= 7,
  };
}
