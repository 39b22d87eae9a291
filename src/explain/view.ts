import type { ScanChain } from '../algorithms/amd-geometry.js';
import type { Device } from '../device/device.js';
import type { ReduceOp } from '../primitives/possible.js';
import type { Step } from './explanation.js';
import type { Subject } from './record.js';

/** What is asked of a view besides the keys. */
export interface ViewOptions {
  /** A step of a ladder or a form of a network; see `EXPLAINED`. */
  readonly step: string | undefined;
  /** Bits of a digit of the split, 1 to 4. */
  readonly radixBits: number | undefined;
  /** Scan chain of the AMD pipeline. */
  readonly scan: ScanChain | undefined;
  /** Of a reduction. */
  readonly op: ReduceOp;
}

/** What a view found. */
export interface ViewResult {
  readonly steps: readonly Step[];
  /** What came out, where it is not the keys after the last step. */
  readonly result?: readonly string[];
}

/**
 * Runs something on a device and tells, step by step, what it did.
 *
 * @throws MismatchError when any number that the device wrote differs from the model; UnsupportedError
 */
export type View = (device: Device, subject: Subject, options: ViewOptions) => Promise<ViewResult>;
