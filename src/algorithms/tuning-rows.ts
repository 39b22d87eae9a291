/** Types of measured parameters: rows that apply to some sorts on some devices. Later rows override earlier ones. */
import type { AlgorithmShape } from './algorithm.js';
import type { Tuning } from './parameters.js';

/** Devices that a measurement applies to, by the properties they report; an omitted field matches all. */
export interface Where {
  /** Device name as the driver reports it. */
  readonly device?: string;
  readonly architecture?: string;
  readonly family?: string;
  readonly type?: string;
}

/** Sorts that a row applies to; an omitted field matches all. */
export interface Which {
  readonly keyBits?: number;
  readonly valueBytes?: number;
  /** Most keys. */
  readonly n?: number;
  /** More keys than this number. */
  readonly over?: number;
}

/** Parameters of an algorithm for some sorts. */
export interface TuningRow {
  readonly algorithm: string;
  readonly which?: Which;
  readonly tuning: Tuning;
}

/** Operations on host arrays whose break-even sizes are measured. */
export const BREAK_EVEN_OPERATIONS = [
  'sort',
  'argsort',
  'sortPairs',
  'segmentedSort',
  'topK',
  'unique',
  'reduce',
  'scan',
  'histogram',
  'gather',
  'filter',
  'searchSorted',
  'merge',
] as const;

export type BreakEvenOperation = (typeof BREAK_EVEN_OPERATIONS)[number];

/** Number of elements in host memory from which a device is faster than the host engine. */
export interface BreakEven {
  /** Omitted for all operations. */
  readonly operation?: BreakEvenOperation;
  /** Width of the keys in bits; omitted for all widths. */
  readonly keyBits?: number;
  /** Infinity if the device is never faster. */
  readonly keys: number;
}

/** Sizes, in keys, from which another way is faster. */
export interface Crossovers {
  /** Break-even sizes of the host engine and the device; the last one that applies wins. */
  readonly host: readonly BreakEven[];
  /** Above this number of keys, one work-group is not the fastest way, even if it can hold them. */
  readonly singleWorkgroup: number;
  /** Above this number of device keys, the first few are selected and then sorted; up to it, all are sorted. */
  readonly select: number;
}

/** Measurements of one kind of device. */
export interface DeviceTuning {
  readonly where: Where;
  /** Hardware, driver and date of the measurement. */
  readonly measured: string;
  readonly crossovers?: Partial<Crossovers>;
  /** Among rows for the same sort, the last one wins. */
  readonly rows: readonly TuningRow[];
}

/**
 * Values of 1 and 2 bytes take as many registers and as much of a tile as 4-byte values, and use their measurements.
 */
const measuredAs = (valueBytes: number): number => (valueBytes > 0 && valueBytes < 4 ? 4 : valueBytes);

/** Returns whether a row applies to sorts of n keys of that shape. */
export const isFor = (which: Which, { keyBits, valueBytes }: AlgorithmShape, n: number): boolean =>
  (which.keyBits ?? keyBits) === keyBits &&
  [valueBytes, measuredAs(valueBytes)].includes(which.valueBytes ?? valueBytes) &&
  n <= (which.n ?? Number.POSITIVE_INFINITY) &&
  n > (which.over ?? -1);
