import type { ScanChain } from '../algorithms/amd-geometry.js';
import type { Device } from '../device/device.js';
import type { ReduceOp } from '../primitives/possible.js';
import type { Step } from './explanation.js';
import type { Subject } from './record.js';

export interface ViewOptions {
  /** A step of a ladder or a form of a network; see `EXPLAINED`. */
  readonly step: string | undefined;
  /** Bits per digit of the split, 1 to 4. */
  readonly radixBits: number | undefined;
  /** Scan chain of the AMD pipeline. */
  readonly scan: ScanChain | undefined;
  /** Operator of a reduction. */
  readonly op: ReduceOp;
}

export interface ViewResult {
  readonly steps: readonly Step[];
  /** The result, when it is not the keys after the last step. */
  readonly result?: readonly string[];
}

/**
 * Runs an algorithm on a device and describes its effect step by step.
 *
 * @throws MismatchError when any number that the device wrote differs from the model
 * @throws UnsupportedError when the device does not support the algorithm
 */
export type View = (device: Device, subject: Subject, options: ViewOptions) => Promise<ViewResult>;
