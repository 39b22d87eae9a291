import * as cl from '../../opencl/index.js';
import { type BasicHardware, countFrom, type DeviceQuery, type Hardware } from './hardware.js';

/** Registers of a compute unit if unknown: as many as most GPUs of the last ten years have. */
const REGISTERS = 65_536;
/** Minimum work-items that a compute unit of a GPU holds. */
const ITEMS = 1024;

/** Returns the hardware of a device of any vendor (ARM, Qualcomm, Apple and others), as plain OpenCL reports it. */
export function generalHardware(
  { computeUnits, localBytes, maxWorkGroup }: BasicHardware,
  query: DeviceQuery,
): Hardware {
  const multiple = countFrom(query(cl.DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE));
  return {
    architecture: undefined,
    computeUnits,
    groupLocalBytes: localBytes,
    unit: { localBytes, groupBytes: 0, registers: REGISTERS, items: Math.max(ITEMS, maxWorkGroup) },
    subGroupSizes: multiple !== undefined && multiple > 1 && multiple <= 128 ? [multiple] : [],
    sharesMemory: false,
    ptx: undefined,
    unlistedAtomics: false,
  };
}
