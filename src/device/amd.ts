import * as cl from '../opencl/index.js';
import { type BasicHardware, countFrom, type DeviceQuery, type Hardware, numberFrom } from './hardware.js';

/** 32-bit registers of a SIMD, by the generation that the driver tells; later ones have at least as many. */
const SIMD_REGISTERS = { gcn: 16_384, rdna: 32_768 } as const;

/** Wavefronts that a SIMD holds, of generations 8 and 9, 10.1, and from 10.3 on. */
const wavefrontsPerSimd = (major: number, minor: number): number => {
  if (major < 10) return 8; // 10 on GCN, 8 on CDNA 2 and 3, which have the same number
  return major === 10 && minor < 3 ? 20 : 16;
};

/** What the driver says by cl_amd_device_attribute_query. */
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
    // The driver calls the device by its target, with features of it behind a colon.
    architecture:
      /^gfx[\da-f]+/.exec(name)?.[0] ?? (major === undefined ? undefined : `gfx${major}.${minor}`),
    unit: {
      // From RDNA on a unit is a pair of those that the driver's answer is for, with the memory of both for its groups.
      localBytes: Math.max(localBytes, known && major >= 10 && simds > 2 ? 2 * unitBytes : unitBytes),
      groupBytes: 0,
      registers: known ? simds * (major < 10 ? SIMD_REGISTERS.gcn : SIMD_REGISTERS.rdna) : unit.registers,
      items: known ? simds * wavefrontsPerSimd(major, minor) * wavefront : unit.items,
    },
    subGroupSizes: wavefront === undefined ? general.subGroupSizes : [wavefront],
  };
}
