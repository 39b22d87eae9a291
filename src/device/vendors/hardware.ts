/** Hardware description of a device, as its driver reports it. Each vendor's queries are in a file of their own. */

/**
 * Queries the driver of one device; returns undefined if the driver does not know the query.
 *
 * @param name constant of clGetDeviceInfo, from OpenCL or an extension
 * @returns the value as the binding returns it: a string, a number, a boolean, `[high, low]` for 64 bits, or bytes
 */
export type DeviceQuery = (name: number) => unknown;

/** Resources that the work-groups on a compute unit share. */
export interface ComputeUnit {
  /** Bytes of local memory. */
  readonly localBytes: number;
  /** Bytes of local memory that are reserved per group, besides its own. */
  readonly groupBytes: number;
  /** 32-bit registers. */
  readonly registers: number;
  /** Maximum number of resident work-items. */
  readonly items: number;
}

/** Inline PTX instructions that not every device with PTX has. */
export interface Ptx {
  /** Whether one instruction finds the lanes with equal values. */
  readonly match: boolean;
  /** Whether one instruction reduces over a warp. */
  readonly redux: boolean;
}

export interface Hardware {
  /** Compiler target, such as `sm_90` or `gfx90a`; undefined if unknown. */
  readonly architecture: string | undefined;
  /** Number of units with a local memory each. A work-group runs on one of them. */
  readonly computeUnits: number;
  /** Bytes of local memory that a kernel may declare per group: at least what the driver reports. */
  readonly groupLocalBytes: number;
  readonly unit: ComputeUnit;
  /** Sub-group sizes in work-items that a kernel can have, in ascending order; empty if unknown. */
  readonly subGroupSizes: readonly number[];
  /** Whether device and host share memory, according to the vendor's query. */
  readonly sharesMemory: boolean;
  /** Inline PTX instructions that may be used; undefined without inline PTX. */
  readonly ptx: Ptx | undefined;
  /** Whether device-scope atomics are known to work although the driver does not list them. */
  readonly unlistedAtomics: boolean;
}

/** Properties that plain OpenCL reports, on which each vendor's file builds. */
export interface BasicHardware {
  readonly name: string;
  readonly computeUnits: number;
  readonly localBytes: number;
  readonly maxWorkGroup: number;
}

/** Returns a 32-bit or 64-bit value as a number; undefined if the driver did not answer with one. */
export function numberFrom(value: unknown): number | undefined {
  if (Array.isArray(value) && value.length === 2) return (value[0] >>> 0) * 2 ** 32 + (value[1] >>> 0);
  const number = typeof value === 'boolean' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Like `numberFrom`, but 0 also gives undefined. */
export const countFrom = (value: unknown): number | undefined => numberFrom(value) || undefined;

/** Returns values of type size_t, one or several, without zeros and in ascending order. */
export function sizesFrom(value: unknown): number[] {
  const one = countFrom(value);
  if (one !== undefined) return [one];
  if (!ArrayBuffer.isView(value) || value.byteLength % 8 !== 0) return [];
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
  const sizes = Array.from({ length: value.byteLength / 8 }, (_, i) =>
    Number(view.getBigUint64(8 * i, true)),
  );
  return sizes.filter((size) => size > 0).sort((a, b) => a - b);
}
