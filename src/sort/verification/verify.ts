import type { Segments, SortWork } from '../../algorithms/algorithm.js';
import { offsetsOf } from '../../algorithms/segments.js';
import type { Check, TrialWork } from '../../algorithms/trial.js';
import { codecArgument } from '../../device/codec-argument.js';
import type { Device } from '../../device/device.js';
import type { Buffer } from '../../device/memory/buffer.js';
import { u32, u64 } from '../../device/queue/queue.js';
import { UnsupportedError } from '../../util/errors.js';
import type { Verified } from '../model/report.js';
import { GroupSums, total } from './group-sums.js';

/** Keys and their values on the device. */
export interface Elements {
  readonly keys: Buffer;
  /** Missing for keys alone, and for the input of an argsort, whose values are the positions. */
  readonly values?: Buffer;
}

export interface VerifyWork extends Pick<SortWork, 'n' | 'codec' | 'bits'> {
  readonly indices: boolean;
  /** Segments that were sorted separately, for a verifier with `bySegments`. */
  readonly segments?: Segments | undefined;
}

/** Compile-time parameters of a verifier. */
export interface VerifierShape {
  readonly keyBits: number;
  readonly valueBytes: number;
  /** Whether segments were sorted separately. */
  readonly bySegments?: boolean;
}

/** Sums of one pass, to be read after the queue has finished. */
export interface Digest {
  read(): { hash: bigint; inversions: bigint };
}

const ORDER = 1;
const INDICES = 2;
const FROM_SEGMENT = 4;

/** Loop iterations per element, to find its segment. */
const SEARCH_ITERATIONS = 33;

/** Verification on the device, see cl/verify.cl. */
export class Verifier {
  readonly #groupSums: GroupSums;
  readonly #valueBytes: number;
  readonly #bySegments: boolean;

  private constructor(sums: GroupSums, { valueBytes, bySegments = false }: VerifierShape) {
    this.#groupSums = sums;
    this.#valueBytes = valueBytes;
    this.#bySegments = bySegments;
  }

  /** @throws BuildError */
  static async create(device: Device, shape: VerifierShape): Promise<Verifier> {
    const { keyBits, valueBytes, bySegments } = shape;
    const defines = { KEY_BITS: keyBits, VALUE_BYTES: valueBytes, SEGMENTS: bySegments ? 1 : 0 };
    return new Verifier(await GroupSums.create(device, 'verify', defines), shape);
  }

  /** Enqueues the sum over the input. */
  input(elements: Elements, work: VerifyWork): Digest {
    return this.#enqueue(elements, work, work.indices ? INDICES : 0, 'verify input');
  }

  /** Enqueues the sum over the output, and the check of its order. */
  output(elements: Elements, work: VerifyWork): Digest {
    return this.#enqueue(elements, work, ORDER | (work.indices ? INDICES : 0), 'verify output');
  }

  /**
   * Returns the check of a trial, on the device's main queue.
   *
   * @param positions whether the values are the positions of the keys, computed by the sort or passed to it; equal keys
   *   must then keep their order
   */
  trialCheck(work: TrialWork, positions = work.indices === true): Check {
    const { input, output, inputValues, outputValues } = work;
    const checked = { ...work, indices: positions };
    let before: Digest | undefined;
    let after: Digest | undefined;
    return {
      before: () => {
        before = this.input({ keys: input, ...(inputValues && { values: inputValues }) }, checked);
      },
      after: () => {
        after = this.output({ keys: output, ...(outputValues && { values: outputValues }) }, checked);
      },
      wrong: () => {
        if (!before || !after) return 'nothing was enqueued';
        const { order, permutation } = compareDigests(before, after);
        if (!order) return 'not in order';
        return permutation ? undefined : 'elements were lost or changed';
      },
    };
  }

  #enqueue({ keys, values = keys }: Elements, work: VerifyWork, flags: number, stage: string): Digest {
    // Positions are 32-bit words. Only positions may be left out, since the kernel computes them.
    if (this.#valueBytes > 0 && values === keys && !(work.indices && this.#valueBytes === 4)) {
      throw new UnsupportedError(
        `cannot verify values of ${this.#valueBytes} bytes: their buffer is missing`,
      );
    }
    const { n, codec, bits } = work;
    const segments = this.#bySegments ? work.segments : undefined;
    if (this.#bySegments && !segments) throw new UnsupportedError('cannot verify segments: they are missing');
    const sums = this.#groupSums.enqueue(
      n,
      (partials, perGroup) => [
        keys,
        ...(this.#valueBytes > 0 ? [values] : []),
        ...(segments ? [offsetsOf(segments), u32(segments.count)] : []),
        partials,
        u64(n),
        perGroup,
        codecArgument(codec),
        u32(bits[0]),
        u32(bits[1] - bits[0]),
        u32(flags | (segments?.fromSegment ? FROM_SEGMENT : 0)),
      ],
      { sumsPerGroup: 2, stage, ...(segments && { iterations: SEARCH_ITERATIONS }) },
    );
    return { read: () => ({ hash: total(sums, 0, 2), inversions: total(sums, 1, 2) }) };
  }
}

export function compareDigests(input: Digest, output: Digest): Verified {
  const after = output.read();
  return { order: after.inversions === 0n, permutation: input.read().hash === after.hash };
}
