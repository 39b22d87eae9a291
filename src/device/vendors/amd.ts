import * as cl from '../../opencl/index.js';
import { type BasicHardware, countFrom, type DeviceQuery, type Hardware, numberFrom } from './hardware.js';

/** 32-bit registers of a SIMD by generation. Newer generations have at least as many. */
const SIMD_REGISTERS = { gcn: 16_384, rdna: 32_768 } as const;

/** Returns the wavefronts that a SIMD holds: 8 below generation 10, 20 below 10.3, 16 from 10.3 on. */
const wavefrontsPerSimd = (major: number, minor: number): number => {
  if (major < 10) return 8; // GCN holds 10; CDNA 2 and 3, with the same major number, hold 8
  return major === 10 && minor < 3 ? 20 : 16;
};

/**
 * Returns the hardware of an AMD device, as cl_amd_device_attribute_query reports it.
 *
 * @param general description by plain OpenCL; its values stay where the driver does not answer
 * @param query queries the driver
 */
export function amdHardware(
  general: Hardware,
  { name, localBytes }: BasicHardware,
  query: DeviceQuery,
): Hardware {
  const major = countFrom(query(cl.DEVICE_GFXIP_MAJOR_AMD));
  const minor = numberFrom(query(cl.DEVICE_GFXIP_MINOR_AMD)) ?? 0;
  const wavefront = countFrom(query(cl.DEVICE_WAVEFRONT_WIDTH_AMD));
  const simds = countFrom(query(cl.DEVICE_SIMD_PER_COMPUTE_UNIT_AMD));
  const unitBytes = countFrom(query(cl.DEVICE_LOCAL_MEM_SIZE_PER_COMPUTE_UNIT_AMD)) ?? 0;
  const { unit } = general;
  const known = major !== undefined && wavefront !== undefined && simds !== undefined;
  return {
    ...general,
    // The driver's device name is the compiler target, followed by its features after a colon.
    architecture:
      /^gfx[\da-f]+/.exec(name)?.[0] ?? (major === undefined ? undefined : `gfx${major}.${minor}`),
    unit: {
      // From RDNA on, a compute unit is a pair of the units that the driver describes. Its groups share the memory of
      // both.
      localBytes: Math.max(localBytes, known && major >= 10 && simds > 2 ? 2 * unitBytes : unitBytes),
      groupBytes: 0,
      registers: known ? simds * (major < 10 ? SIMD_REGISTERS.gcn : SIMD_REGISTERS.rdna) : unit.registers,
      items: known ? simds * wavefrontsPerSimd(major, minor) * wavefront : unit.items,
    },
    subGroupSizes: wavefront === undefined ? general.subGroupSizes : [wavefront],
  };
}
