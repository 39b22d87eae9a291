/** Ladders consist of tasks, and tasks of steps that perform them in different ways. */

import type { Device } from '../../device/device.js';
import type { Buffer } from '../../device/memory/buffer.js';
import { bytesOf } from '../../keys/array.js';

export const LADDERS = ['reduce', 'scan', 'histogram', 'sorts'] as const;
export type LadderName = (typeof LADDERS)[number];

/** A step that is ready to run. */
export interface Prepared {
  /** Sizes in bytes of its result and of its scratch buffers. */
  readonly resultBytes: number;
  readonly scratchBytes: readonly number[];
  /**
   * Enqueues the step.
   *
   * @returns the buffer that holds the result
   */
  enqueue(inputs: readonly Buffer[], result: Buffer, scratch: readonly Buffer[]): Buffer;
  right(result: Uint8Array): boolean;
}

export interface StepMaker {
  readonly step: string;
  /**
   * Prepares the step on a device.
   *
   * @throws UnsupportedError when the device does not support it, or when there are too many keys
   */
  make(device: Device): Promise<Prepared>;
}

/** A task that several steps perform, each in its own way. */
export interface Task {
  readonly ladder: LadderName;
  readonly task: string;
  /** Input arrays, the keys first. */
  readonly inputs: readonly ArrayBufferView[];
  /** Bytes that the task must read and write once. */
  readonly bytes: number;
  readonly host: () => void;
  readonly steps: readonly StepMaker[];
}

export const same = (a: Uint8Array, b: ArrayBufferView): boolean =>
  globalThis.Buffer.compare(a, bytesOf(b)) === 0;
