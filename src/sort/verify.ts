import type { Buffer } from '../device/buffer.js';
import type { Device } from '../device/device.js';
import type { Program } from '../device/program.js';
import { u32, u64, vector } from '../device/queue.js';
import { codecVector, type KeyCodec } from '../keys/key-codec.js';
import { UnsupportedError } from '../util/errors.js';

/** What a check of a sort's result found. */
export interface Verified {
  /** No key stands before a smaller one (and, for an argsort, equal keys keep their input order). */
  readonly order: boolean;
  /** The output holds the elements of the input, each as often, values beside their keys. */
  readonly permutation: boolean;
}

/** Keys, and the values beside them, on the device. */
export interface Elements {
  readonly keys: Buffer;
  /** Left out for keys alone, and on the input of an argsort, whose values are the positions. */
  readonly values?: Buffer;
}

export interface VerifyWork {
  readonly n: number;
  readonly codec: KeyCodec;
  readonly bits: readonly [begin: number, end: number];
  readonly indices: boolean;
}

/** Sums of one pass; to be read after the queue has finished. */
export interface Digest {
  read(): { hash: bigint; inversions: bigint };
}

const ORDER = 1;
const INDICES = 2;

/** No work-item loops longer than this: some drivers end long loops silently. */
const MAX_ITERATIONS = 32_768;

/** Device-side verification: see cl/verify.cl. */
export class Verifier {
  readonly #device: Device;
  readonly #program: Program;
  readonly #localSize: number;
  readonly #valueBytes: number;

  private constructor(device: Device, program: Program, localSize: number, valueBytes: number) {
    this.#device = device;
    this.#program = program;
    this.#localSize = localSize;
    this.#valueBytes = valueBytes;
  }

  /** @throws BuildError */
  static async create(device: Device, shape: { keyBits: number; valueBytes: number }): Promise<Verifier> {
    const { type, maxWorkGroup } = device.capabilities;
    for (let localSize = type === 'cpu' ? 1 : Math.min(256, maxWorkGroup); ; localSize /= 2) {
      const program = await device.program('verify.cl', {
        KEY_BITS: shape.keyBits,
        VALUE_BYTES: shape.valueBytes,
        LOCAL_SIZE: localSize,
      });
      if (program.kernel('verify').workGroupLimit >= localSize || localSize === 1) {
        return new Verifier(device, program, localSize, shape.valueBytes);
      }
    }
  }

  /** Enqueues the sum over the input. */
  input(elements: Elements, work: VerifyWork): Digest {
    return this.#enqueue(elements, work, work.indices ? INDICES : 0, 'verify input');
  }

  /** Enqueues the sum over the output and the check of its order. */
  output(elements: Elements, work: VerifyWork): Digest {
    return this.#enqueue(elements, work, ORDER | (work.indices ? INDICES : 0), 'verify output');
  }

  #enqueue({ keys, values = keys }: Elements, work: VerifyWork, flags: number, stage: string): Digest {
    // Positions are 32-bit words; only for them may the values be left out, since the kernel makes them.
    if (this.#valueBytes > 0 && values === keys && !(work.indices && this.#valueBytes === 4)) {
      throw new UnsupportedError(
        `values of ${this.#valueBytes} bytes cannot be checked without their buffer`,
      );
    }
    const { queue, pool, capabilities } = this.#device;
    const { n, codec, bits } = work;
    const wanted = capabilities.computeUnits * (capabilities.type === 'cpu' ? 2 : 16);
    const perGroup = Math.min(Math.ceil(n / wanted), this.#localSize * MAX_ITERATIONS) || 1;
    const groups = Math.ceil(n / perGroup);
    const partials = pool.take(groups * 16);
    const sums = new BigUint64Array(groups * 2);
    try {
      queue.run(
        this.#program.kernel('verify'),
        [
          keys,
          ...(this.#valueBytes > 0 ? [values] : []),
          partials,
          u64(n),
          u64(perGroup),
          vector(codecVector(codec)),
          u32(bits[0]),
          u32(bits[1] - bits[0]),
          u32(flags),
        ],
        { global: groups * this.#localSize, local: this.#localSize, stage },
      );
      queue.read(partials, sums);
    } finally {
      pool.give(partials);
    }
    return {
      read: () => ({
        hash: BigInt.asUintN(
          64,
          sums.reduce((sum, word, i) => (i % 2 === 0 ? sum + word : sum), 0n),
        ),
        inversions: sums.reduce((sum, word, i) => (i % 2 === 1 ? sum + word : sum), 0n),
      }),
    };
  }
}

/** Compares the sums of input and output. */
export function verdict(input: Digest, output: Digest): Verified {
  const after = output.read();
  return { order: after.inversions === 0n, permutation: input.read().hash === after.hash };
}
