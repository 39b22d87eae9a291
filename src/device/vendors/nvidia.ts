import * as cl from '../../opencl/index.js';
import { type BasicHardware, countFrom, type DeviceQuery, type Hardware, numberFrom } from './hardware.js';

/** Limits of a multiprocessor: KiB of local memory per group and per unit, and resident work-items. */
interface Multiprocessor {
  readonly group: number;
  readonly unit: number;
  readonly items: number;
}

/**
 * "Technical Specifications per Compute Capability" of the CUDA C++ Programming Guide. The driver reports 48 KiB for
 * all of them; arrays that a kernel declares can use the rest.
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

/** From Ampere on, a multiprocessor reserves this much of its local memory for each group. */
const RESERVED_GROUP_BYTES = 1024;

/**
 * Returns the hardware of an NVIDIA device, as cl_nv_device_attribute_query reports it.
 *
 * @param general description by plain OpenCL; its values stay for compute capabilities that the table lacks
 * @param query queries the driver
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
    // Look-back and grid-wide barriers need scoped loads and stores, which exist from Volta on.
    ptx: major >= 7 ? { match: true, redux: major >= 8 } : undefined,
    unlistedAtomics: major >= 7,
  };
}
