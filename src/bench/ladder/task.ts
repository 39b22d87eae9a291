/** What a ladder is made of: tasks, and the steps that do each of them. */
import type { Buffer } from '../../device/buffer.js';
import type { Device } from '../../device/device.js';
import { bytesOf } from '../../keys/array.js';

export const LADDERS = ['reduce', 'scan', 'histogram', 'sorts'] as const;
export type LadderName = (typeof LADDERS)[number];

/** A step that is ready to run. */
export interface Prepared {
  /** Bytes of its result, and of the temporary buffers it takes. */
  readonly resultBytes: number;
  readonly scratchBytes: readonly number[];
  /** @returns where the result is */
  enqueue(inputs: readonly Buffer[], result: Buffer, scratch: readonly Buffer[]): Buffer;
  right(result: Uint8Array): boolean;
}

export interface StepMaker {
  readonly step: string;
  /** @throws UnsupportedError where the device cannot do it so, or there are too many keys */
  make(device: Device): Promise<Prepared>;
}

/** What all of its steps do, each in its own way. */
export interface Task {
  readonly ladder: LadderName;
  readonly task: string;
  /** What is read: keys first. It may be made on a device. */
  readonly inputs: readonly ArrayBufferView[];
  /** Bytes that the task itself has to read and write once. */
  readonly bytes: number;
  readonly host: () => void;
  readonly steps: readonly StepMaker[];
}

export const same = (a: Uint8Array, b: ArrayBufferView): boolean =>
  globalThis.Buffer.compare(a, bytesOf(b)) === 0;

/** Whole numbers that the host's loops go over. */
export const filled = (n: number, value: (i: number) => number): Uint32Array => {
  const words = new Uint32Array(n);
  for (let i = 0; i < n; i++) words[i] = value(i);
  return words;
};
