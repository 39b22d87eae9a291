import type { Algorithm } from '../algorithms/algorithm.js';
import { enqueueWithScratch } from '../algorithms/run.js';
import { runTrial, type TrialOutcome, type TrialWork } from '../algorithms/trial.js';
import type { Device } from '../device/device.js';
import type { Buffer } from '../device/memory/buffer.js';
import { type Dtype, dtypeInfo } from '../keys/dtype.js';
import { keyCodec } from '../keys/key-codec.js';
import { Verifier } from '../sort/verification/verify.js';

/** Type and number of the keys, and size of the values in bytes. */
export interface SortArraysShape {
  readonly dtype: Dtype;
  readonly valueBytes: 0 | 4 | 8;
  readonly n: number;
}

/** Arrays on a device for sorts that are verified there and timed. The values are the positions of the keys. */
export class SortArrays {
  readonly #device: Device;
  readonly #verifier: Verifier;
  readonly #work: TrialWork;

  private constructor(device: Device, verifier: Verifier, { dtype, valueBytes, n }: SortArraysShape) {
    this.#device = device;
    this.#verifier = verifier;
    const { bytes, width } = dtypeInfo(dtype);
    const made: Buffer[] = [];
    const room = (granularity: number): Buffer => {
      const buffer = device.buffer(granularity * n);
      made.push(buffer);
      return buffer;
    };
    try {
      this.#work = {
        n,
        input: room(bytes),
        output: room(bytes),
        ...(valueBytes > 0 && { inputValues: room(valueBytes), outputValues: room(valueBytes) }),
        codec: keyCodec(dtype),
        bits: [0, width],
      };
    } catch (error) {
      for (const buffer of made) buffer.release();
      throw error;
    }
    // Each value occurs once, so that a misplaced value is detected.
    const { inputValues } = this.#work;
    if (inputValues) device.queue.write(inputValues, positions(n, valueBytes));
  }

  /**
   * Allocates the arrays and compiles the verifier.
   *
   * @throws BuildError when the verifier does not compile
   * @throws MemoryError when the arrays cannot be allocated
   */
  static async open(device: Device, shape: SortArraysShape): Promise<SortArrays> {
    const keyBits = dtypeInfo(shape.dtype).width;
    const verifier = await Verifier.create(device, { keyBits, valueBytes: shape.valueBytes });
    return new SortArrays(device, verifier, shape);
  }

  /** Enqueues the upload of n keys, which must not change before the next wait. */
  upload(keys: Uint8Array): void {
    this.#device.queue.write(this.#work.input, keys);
  }

  /** Enqueues a sort of the uploaded keys. */
  enqueue(algorithm: Algorithm): ReturnType<typeof enqueueWithScratch> {
    return enqueueWithScratch(algorithm, this.#device.queue, this.#work);
  }

  /** Sorts the uploaded keys and verifies the result; with 4-byte values it also verifies stability. */
  trial(algorithm: Algorithm): Promise<TrialOutcome> {
    const check = this.#verifier.trialCheck(this.#work, algorithm.shape.valueBytes === 4);
    return runTrial(algorithm, this.#device.queue, this.#work, check);
  }

  close(): void {
    const { input, output, inputValues, outputValues } = this.#work;
    for (const buffer of [input, output, inputValues, outputValues]) buffer?.release();
  }
}

/** Returns the positions 0 to n - 1 as values of `valueBytes` bytes, in the first four bytes of each. */
function positions(n: number, valueBytes: number): Uint8Array {
  const words = new Uint32Array((n * valueBytes) / 4);
  for (let i = 0; i < n; i++) words[(i * valueBytes) / 4] = i;
  return new Uint8Array(words.buffer);
}
