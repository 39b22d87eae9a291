/** The form of measured parameters: rows for some sorts of some devices, which later ones override. */
import type { AlgorithmShape } from './algorithm.js';
import type { Tuning } from './parameters.js';

/** Which devices something was measured for, by what they say of themselves; what is left out matches all. */
export interface Where {
  /** Name as the driver gives it. */
  readonly device?: string;
  readonly architecture?: string;
  readonly family?: string;
  readonly type?: string;
}

/** Which sorts a row is for; what is left out matches all. */
export interface Which {
  readonly keyBits?: number;
  readonly valueBytes?: number;
  /** Most keys. */
  readonly n?: number;
  /** More keys than these. */
  readonly over?: number;
}

/** Parameters with which an algorithm does some sorts. */
export interface TuningRow {
  readonly algorithm: string;
  readonly which?: Which;
  readonly tuning: Tuning;
}

/** Numbers of keys at which another way becomes the faster one. */
export interface Crossovers {
  /** With fewer keys, in host memory, the host engine is done before the device. */
  readonly host: number;
  /** With more keys one work-group is not the fastest way, even if it can hold them. */
  readonly group: number;
  /** Of more keys on the device the first few are selected and then sorted; up to here all are sorted. */
  readonly select: number;
}

/** What was measured on one kind of device. */
export interface DeviceTuning {
  readonly where: Where;
  /** On what, and when. */
  readonly measured: string;
  readonly crossovers?: Partial<Crossovers>;
  /** Among rows for the same sort the later one wins. */
  readonly rows: readonly TuningRow[];
}

/** Values of 1 and 2 bytes take as many registers, and as much of a tile, as those of 4: what was measured for these is theirs. */
const measuredAs = (valueBytes: number): number => (valueBytes > 0 && valueBytes < 4 ? 4 : valueBytes);

/** Is something for sorts of n keys of that shape? */
export const isFor = (which: Which, { keyBits, valueBytes }: AlgorithmShape, n: number): boolean =>
  (which.keyBits ?? keyBits) === keyBits &&
  [valueBytes, measuredAs(valueBytes)].includes(which.valueBytes ?? valueBytes) &&
  n <= (which.n ?? Number.POSITIVE_INFINITY) &&
  n > (which.over ?? -1);
