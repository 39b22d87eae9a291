import type { Dtype } from '../keys/dtype.js';

/** Launches of one kernel (or commands of one kind) in a sort. */
export interface StageReport {
  readonly stage: string;
  /** Number of the radix pass; left out where the stage belongs to no pass. */
  readonly pass?: number;
  /** Device time of all its launches; null where the device does not measure. */
  readonly seconds: number | null;
  readonly launches: number;
}

/** Where a sort ran. */
export interface ReportDevice {
  readonly name: string;
  readonly type: 'cpu' | 'gpu' | 'accelerator' | 'other' | 'host';
  readonly platform: string;
  readonly driver: string;
}

/** What a sort did, as `onReport` gets it. */
export interface Report {
  readonly n: number;
  readonly dtype: Dtype;
  readonly device: ReportDevice;
  /** Name of the algorithm that made the result. */
  readonly algorithm: string;
  /** Kernels of the AMD-style pipeline's scan. */
  readonly scan?: 3 | 5;
  /** Keys that were counted, where the algorithm pads. */
  readonly padded?: number;
  /** What `verify` found; left out without it. */
  readonly verified?: { readonly order: boolean; readonly permutation: boolean };
  /** Filled when `profile` is on, in the order in which they ran. */
  readonly stages: readonly StageReport[];
  /** Uploads and downloads, likewise. */
  readonly transfers: readonly StageReport[];
  /** Wall-clock time from call to result. */
  readonly seconds: number;
  readonly warnings: readonly string[];
}
