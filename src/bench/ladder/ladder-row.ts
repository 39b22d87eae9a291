import type { LadderName } from './task.js';

/** One step on a device, or the host's loop. Unless the result is right, all times are null. */
export interface LadderRow {
  readonly primitive: LadderName;
  /** The task that all compared steps perform. */
  readonly task: string;
  readonly step: string;
  /** Name of the device; `host` for the host. */
  readonly device: string;
  readonly n: number;
  readonly result: 'right' | 'wrong' | 'unsupported' | 'skipped';
  /** Reason why it was not measured. */
  readonly reason?: string;
  /** Median kernel seconds by device events; null for the host, and for devices without profiling times. */
  readonly kernelSeconds: number | null;
  /** Median seconds from the first command to the end of the last, by the host's clock, without transfers. */
  readonly seconds: number | null;
  /** Median seconds including the upload of the keys and the download of the result. */
  readonly endToEndSeconds: number | null;
  /** Median absolute deviation of the kernel seconds, or of the host's clock without them. */
  readonly madSeconds: number | null;
  /** Bytes that the task must read and write once, per second of kernel time, or of the host's clock without it. */
  readonly bytesPerSecond: number | null;
  /** `bytesPerSecond` as a share of the copy bandwidth of the device. */
  readonly copyShare: number | null;
  /**
   * Speed relative to the first step of its task (for the host: on the first device); null when that step was not
   * measured.
   */
  readonly speedup: number | null;
}
