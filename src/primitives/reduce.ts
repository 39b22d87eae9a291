import type { Buffer } from '../device/buffer.js';
import type { Device } from '../device/device.js';
import type { Program } from '../device/program.js';
import { type KernelArgument, type Queue, u64, vector } from '../device/queue.js';
import { type Dtype, type DtypeInfo, dtypeInfo } from '../keys/dtype.js';
import { codecVector, decode, type KeyCodec, keyCodec } from '../keys/key-codec.js';
import { keyValue } from '../keys/value.js';
import { UnsupportedError } from '../util/errors.js';
import { buildForGroups, walkingGroups } from './group.js';
import { assertReducible, type ReduceOp } from './possible.js';

/** The ladder of the lectures from its first step on, and last the kernel that is used. */
export const REDUCE_STEPS = ['interleaved', 'compacted', 'halving', 'two_loads', 'unrolled', 'grid'] as const;
export type ReduceStep = (typeof REDUCE_STEPS)[number];

const OPS = { sum: 0, min: 1, max: 2 } as const;
const KINDS = { unsigned: 0, signed: 1, float: 2 } as const;
const PARTIALS_PER_ITEM = 8;
/** Keys that a work-item of a step loads. */
const LOADS: Readonly<Record<string, number>> = { two_loads: 2, unrolled: 2 };

/**
 * Sum, minimum or maximum of n keys: every group reduces a part, and the results are reduced in turn.
 *
 * Source: M. Harris, "Optimizing Parallel Reduction in CUDA" (2007); W. Kahan, "Further Remarks on
 * Reducing Truncation Errors" (1965), for sums of floats.
 *
 * Complexity: every key read once; a launch for the keys and one for each factor of 2048 (at groups of
 * 256) of partial results. Sums of integers wrap at 64 bits; sums of f32 are within
 * 2 log2(n) 2^-24 of the sum of magnitudes; sums of f64 need a device with fp64, sums of f16 are not
 * supported. Minimum and maximum propagate NaN, and -0 is below +0.
 */
export class Reduction {
  readonly dtype: Dtype;
  readonly op: ReduceOp;
  readonly #device: Device;
  readonly #program: Program;
  readonly #groupSize: number;
  readonly #codec: KeyCodec;

  private constructor(device: Device, info: DtypeInfo, op: ReduceOp, program: Program, groupSize: number) {
    this.#device = device;
    this.dtype = info.name;
    this.op = op;
    this.#program = program;
    this.#groupSize = groupSize;
    // A NaN wins: its code is the largest for a maximum, the smallest for a minimum.
    this.#codec = keyCodec(info.name, { nan: op === 'min' ? 'first' : 'last' });
  }

  /** @throws UnsupportedError, BuildError */
  static async create(device: Device, { dtype, op }: { dtype: Dtype; op: ReduceOp }): Promise<Reduction> {
    const info = dtypeInfo(dtype);
    assertReducible(dtype, op);
    if (op === 'sum' && dtype === 'f64' && !device.capabilities.fp64) {
      throw new UnsupportedError(`${device.info.name} has no fp64, which sums of f64 need`);
    }
    const kernels = [...REDUCE_STEPS.map((step) => `reduce_${step}`), 'reduce_partials'];
    const { program, groupSize } = await buildForGroups(device, 'reduce.cl', kernels, {
      KEY_BITS: info.width,
      VALUE_BYTES: 0,
      OP: OPS[op],
      KIND: KINDS[info.kind],
    });
    return new Reduction(device, info, op, program, groupSize);
  }

  #groups(n: number, step: ReduceStep): number {
    if (step === 'grid') return walkingGroups(this.#device, n, this.#groupSize);
    return Math.max(1, Math.ceil(n / (this.#groupSize * (LOADS[step] ?? 1))));
  }

  /** Bytes of each of the two buffers of partial results. */
  partialBytes(n: number, step: ReduceStep = 'grid'): number {
    return this.#groups(n, step) * 8;
  }

  /** Enqueues the reduction. @returns the one of `partials` whose first element will be the result */
  enqueue(
    queue: Queue,
    { keys, n, partials }: { keys: Buffer; n: number; partials: readonly [Buffer, Buffer] },
    step: ReduceStep = 'grid',
  ): Buffer {
    const local = this.#groupSize;
    let count = this.#groups(n, step);
    let [from, to] = partials;
    const args: KernelArgument[] = [keys, from, u64(n), vector(codecVector(this.#codec))];
    queue.run(this.#program.kernel(`reduce_${step}`), args, { global: count * local, local });
    while (count > 1) {
      const groups = Math.ceil(count / (local * PARTIALS_PER_ITEM));
      const next = [from, to, u64(count)];
      queue.run(this.#program.kernel('reduce_partials'), next, { global: groups * local, local });
      [from, to] = [to, from];
      count = groups;
    }
    return from;
  }

  /** The result as a number (32 bits and fewer, floats) or BigInt, from the first 8 bytes of its buffer. */
  value(bytes: Uint8Array): number | bigint {
    const view = new DataView(bytes.buffer, bytes.byteOffset, 8);
    const { kind, width } = dtypeInfo(this.dtype);
    if (this.op === 'sum') {
      if (kind === 'float') return width === 32 ? view.getFloat32(0, true) : view.getFloat64(0, true);
      return kind === 'signed' ? view.getBigInt64(0, true) : view.getBigUint64(0, true);
    }
    const code = width === 64 ? view.getBigUint64(0, true) : BigInt(view.getUint32(0, true));
    return keyValue(decode(this.#codec, code), this.#codec.dtype);
  }
}

/** A reduction of keys in device memory. */
export interface ReduceWork {
  readonly keys: Buffer;
  readonly n: number;
  readonly dtype: Dtype;
  readonly op: ReduceOp;
  readonly step?: ReduceStep;
}

/**
 * Enqueues a reduction, with memory of the pool, which is given back at once: whoever takes it next comes
 * later in the queue.
 *
 * @returns the result, to be asked when the queue has finished
 * @throws InputError for the minimum or maximum of nothing
 */
export async function enqueueReduce(
  device: Device,
  { keys, n, dtype, op, step = 'grid' }: ReduceWork,
): Promise<() => number | bigint> {
  assertReducible(dtype, op, n);
  const reduction = await Reduction.create(device, { dtype, op });
  const result = new Uint8Array(8);
  const bytes = reduction.partialBytes(n, step);
  device.pool.lend([bytes, bytes], (from, to) => {
    device.queue.read(reduction.enqueue(device.queue, { keys, n, partials: [from, to] }, step), result);
  });
  return () => reduction.value(result);
}

/** As `enqueueReduce`, waiting for the result. */
export async function reduce(device: Device, work: ReduceWork): Promise<number | bigint> {
  const result = await enqueueReduce(device, work);
  await device.queue.finish();
  return result();
}
