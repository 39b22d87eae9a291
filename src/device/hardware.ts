/** What a device is made of, as far as its vendor's driver tells: each vendor's questions are in a file of their own. */

/**
 * Asks the driver of one device; undefined where it does not know the question.
 *
 * @param name  a constant of clGetDeviceInfo, of OpenCL or of an extension
 * @returns as the binding returns it: text, a number, a truth value, `[high, low]` of 64 bits, or bytes
 */
export type DeviceQuery = (name: number) => unknown;

/** What the groups that run on a compute unit at the same time share. */
export interface ComputeUnit {
  /** Bytes of local memory. */
  readonly localBytes: number;
  /** Bytes of it that each group takes besides its own. */
  readonly groupBytes: number;
  /** 32-bit registers. */
  readonly registers: number;
  /** Most work-items. */
  readonly items: number;
}

/** Instructions by inline PTX that not every device with PTX has. */
export interface Ptx {
  /** Lanes with equal values find each other by one instruction. */
  readonly match: boolean;
  /** Reductions over a warp by one instruction. */
  readonly redux: boolean;
}

export interface Hardware {
  /** What code for the device is compiled for, such as `sm_90` or `gfx90a`; undefined where nobody tells. */
  readonly architecture: string | undefined;
  /** Units with a local memory each, on which groups run as a whole. */
  readonly computeUnits: number;
  /** Bytes of local memory that the kernel of a group may declare: at least what the driver admits. */
  readonly groupLocalBytes: number;
  readonly unit: ComputeUnit;
  /** Work-items of sub-groups that a kernel can have, in ascending order; none where nobody tells. */
  readonly subGroupSizes: readonly number[];
  /** Device and host share memory, as the vendor says besides OpenCL. */
  readonly sharesMemory: boolean;
  /** What inline PTX may use; undefined where there is none to be used. */
  readonly ptx: Ptx | undefined;
  /** Device-scope atomics are known to work that the driver does not list. */
  readonly unlistedAtomics: boolean;
}

/** What OpenCL itself tells of a device, which is where every vendor's file begins. */
export interface BasicHardware {
  readonly name: string;
  readonly computeUnits: number;
  readonly localBytes: number;
  readonly maxWorkGroup: number;
}

/** A value of 32 or 64 bits as a number; undefined where the driver did not answer with one. */
export function numberFrom(value: unknown): number | undefined {
  if (Array.isArray(value) && value.length === 2) return (value[0] >>> 0) * 2 ** 32 + (value[1] >>> 0);
  const number = typeof value === 'boolean' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** As `numberFrom`, where 0 is no answer either. */
export const countFrom = (value: unknown): number | undefined => numberFrom(value) || undefined;

/** Values of type size_t, of which a driver may tell one or several; in ascending order. */
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
