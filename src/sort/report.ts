import type { Dtype } from '../keys/dtype.js';

/** Launches of one kernel (or commands of one kind) in a sort. */
export interface StageReport {
  readonly stage: string;
  /** Number of the radix pass; left out where the stage belongs to no pass. */
  readonly pass?: number;
  /** Time of all its launches; null where the device does not measure. */
  readonly seconds: number | null;
  readonly launches: number;
}

/** Where a sort ran. */
export interface ReportDevice {
  readonly name: string;
  readonly type: 'cpu' | 'gpu' | 'accelerator' | 'other' | 'host';
  /** What follows is left out for the host engine. */
  readonly platform?: string;
  readonly driver?: string;
  /** `P:D` as `clsort devices` shows it. */
  readonly id?: string;
}

/** What a sort did, as `onReport` gets it. */
export interface SortReport {
  readonly n: number;
  readonly dtype: Dtype;
  readonly device: ReportDevice;
  /** Name of the algorithm that made the result. */
  readonly algorithm: string;
  /** Why the planner took it. */
  readonly reason: string;
  /** Bits of the codes that were sorted on: those asked for, less constant ones at either end. */
  readonly bits: readonly [begin: number, end: number];
  /** Kernels of the AMD-style pipeline's scan. */
  readonly scan?: 3 | 5;
  /** Keys that were counted, where the algorithm pads. */
  readonly padded?: number;
  /** Pieces that the keys were cut into, where they did not fit the device whole. */
  readonly chunks?: number;
  /** What `verify` found; left out without it. */
  readonly verified?: { readonly order: boolean; readonly permutation: boolean };
  /** What the device did, transfers (`upload`, `download`) included, in order of first appearance. */
  readonly stages: readonly StageReport[];
  /** Wall-clock time from call to result. */
  readonly seconds: number;
}
