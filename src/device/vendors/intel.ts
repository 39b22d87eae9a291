import * as cl from '../../opencl/index.js';
import {
  type BasicHardware,
  countFrom,
  type DeviceQuery,
  type Hardware,
  numberFrom,
  sizesFrom,
} from './hardware.js';

/** Work-items per thread of an execution unit: the width that the compiler chooses for kernels of some size. */
const SIMD = 16;
/** 32-bit registers of a thread: 128 of 32 bytes. */
const THREAD_REGISTERS = 1024;

/** Bits of `cl_version` below the major number, and below the minor one. */
const [MAJOR_SHIFT, MINOR_SHIFT] = [22, 12] as const;

const ipVersion = (version: number): string =>
  `xe${version >>> MAJOR_SHIFT}.${(version >>> MINOR_SHIFT) & (2 ** (MAJOR_SHIFT - MINOR_SHIFT) - 1)}`;

/**
 * Returns the hardware of an Intel device, as cl_intel_device_attribute_query and cl_intel_required_subgroup_size
 * report it.
 *
 * OpenCL's compute units are execution units here. Those that share a local memory are sub-slices (Xe cores).
 *
 * @param general description by plain OpenCL; its values stay where the driver does not answer
 * @param query queries the driver
 */
export function intelHardware(
  general: Hardware,
  { computeUnits, localBytes }: BasicHardware,
  query: DeviceQuery,
): Hardware {
  const sizes = sizesFrom(query(cl.DEVICE_SUB_GROUP_SIZES_INTEL));
  const slices = countFrom(query(cl.DEVICE_NUM_SLICES_INTEL));
  const perSlice = countFrom(query(cl.DEVICE_NUM_SUB_SLICES_PER_SLICE_INTEL));
  const executionUnits = countFrom(query(cl.DEVICE_NUM_EUS_PER_SUB_SLICE_INTEL));
  const threads = countFrom(query(cl.DEVICE_NUM_THREADS_PER_EU_INTEL));
  const version = numberFrom(query(cl.DEVICE_IP_VERSION_INTEL));
  const base = { ...general, ...(sizes.length > 0 && { subGroupSizes: sizes }) };
  if (!slices || !perSlice || !executionUnits || !threads) return base;
  return {
    ...base,
    architecture: version ? ipVersion(version) : undefined,
    // Some of the sub-slices may be fused off.
    computeUnits: Math.max(1, Math.min(slices * perSlice, Math.ceil(computeUnits / executionUnits))),
    unit: {
      localBytes,
      groupBytes: 0,
      registers: executionUnits * threads * THREAD_REGISTERS,
      items: executionUnits * threads * SIMD,
    },
  };
}
