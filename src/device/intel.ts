import * as cl from '../opencl/index.js';
import { type Ask, type Basics, countFrom, type Hardware, numberFrom, sizesFrom } from './hardware.js';

/** Work-items of a thread of an execution unit: what the compiler takes for kernels of some size. */
const SIMD = 16;
/** 32-bit registers of a thread: 128 of 32 bytes. */
const THREAD_REGISTERS = 1024;

/** Bits of `cl_version` behind the major number, and behind the minor one. */
const [MAJOR_AT, MINOR_AT] = [22, 12] as const;

const ipVersion = (version: number): string =>
  `xe${version >>> MAJOR_AT}.${(version >>> MINOR_AT) & (2 ** (MAJOR_AT - MINOR_AT) - 1)}`;

/**
 * What the driver says by cl_intel_device_attribute_query and cl_intel_required_subgroup_size. The compute units of OpenCL
 * are execution units here; those that share a local memory are the sub-slices, Xe cores in newer words.
 */
export function intelHardware(general: Hardware, { computeUnits, localBytes }: Basics, ask: Ask): Hardware {
  const sizes = sizesFrom(ask(cl.DEVICE_SUB_GROUP_SIZES_INTEL));
  const slices = countFrom(ask(cl.DEVICE_NUM_SLICES_INTEL));
  const perSlice = countFrom(ask(cl.DEVICE_NUM_SUB_SLICES_PER_SLICE_INTEL));
  const engines = countFrom(ask(cl.DEVICE_NUM_EUS_PER_SUB_SLICE_INTEL));
  const threads = countFrom(ask(cl.DEVICE_NUM_THREADS_PER_EU_INTEL));
  const version = numberFrom(ask(cl.DEVICE_IP_VERSION_INTEL));
  const asked = { ...general, ...(sizes.length > 0 && { subGroupSizes: sizes }) };
  if (!slices || !perSlice || !engines || !threads) return asked;
  return {
    ...asked,
    architecture: version ? ipVersion(version) : undefined,
    // Some of the sub-slices may be fused off.
    computeUnits: Math.max(1, Math.min(slices * perSlice, Math.ceil(computeUnits / engines))),
    unit: {
      localBytes,
      groupBytes: 0,
      registers: engines * threads * THREAD_REGISTERS,
      items: engines * threads * SIMD,
    },
  };
}
