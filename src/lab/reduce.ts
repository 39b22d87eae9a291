import { codecArgument } from '../device/codec-argument.js';
import type { Device } from '../device/device.js';
import type { Buffer } from '../device/memory/buffer.js';
import type { Program } from '../device/programs/program.js';
import { type KernelArgument, type Queue, u64 } from '../device/queue/queue.js';
import { type Dtype, type DtypeInfo, dtypeInfo } from '../keys/dtype.js';
import { type KeyCodec, keyCodec } from '../keys/key-codec.js';
import { buildForGroups, gridStrideGroups, type LabOptions } from '../primitives/group.js';
import { assertArithmetic, assertReducible, type ReduceOp } from '../primitives/possible.js';
import { reducedValue } from '../primitives/reduce.js';
import { UnsupportedError } from '../util/errors.js';

/** The steps in order; the last one is a grid-stride loop. */
export const REDUCE_STEPS = ['interleaved', 'compacted', 'halving', 'two_loads', 'unrolled', 'grid'] as const;
/** As two loads, with sub-groups instead of barriers for the last levels (cl/reduce_lab.cl). */
export const SUBGROUPS = 'subgroups';
export type ReduceStep = (typeof REDUCE_STEPS)[number] | typeof SUBGROUPS;

const OPS = { sum: 0, min: 1, max: 2 } as const;
const KINDS = { unsigned: 0, signed: 1, float: 2 } as const;
/** Partial results that a work-item of `reduce_partials` loads. */
export const PARTIALS_PER_ITEM = 8;
/** Keys that a work-item of a step loads. */
const LOADS: Readonly<Record<string, number>> = { two_loads: 2, unrolled: 2, subgroups: 2 };

/** Work-items of a row with ballots. */
const WARP = 32;

/** Returns how work-items of a sub-group exchange values: 1 by OpenCL functions, 2 by the vendor's instructions. */
function subGroupsOf({ capabilities, info }: Device): 1 | 2 {
  if (capabilities.hasBallot) return 2;
  if (capabilities.extensions.has('cl_khr_subgroups')) return 1;
  throw new UnsupportedError(
    `cannot run step '${SUBGROUPS}': ${info.name} does not support sub-groups (cl_khr_subgroups). Use another step`,
  );
}

/** Parameters that a reduction is compiled for. */
export interface ReductionOptions {
  readonly dtype: Dtype;
  readonly op: ReduceOp;
  readonly lab?: LabOptions;
  /** Compiles the kernel of `SUBGROUPS` and no other step. Default false. */
  readonly subGroups?: boolean;
}

/**
 * Sum, minimum or maximum of n keys: every group reduces a part, and further launches reduce the results.
 *
 * Source: M. Harris, "Optimizing Parallel Reduction in CUDA" (2007); W. Kahan, "Further Remarks on Reducing
 * Truncation Errors" (1965), for sums of floats.
 *
 * Complexity: every key is read once; one launch for the keys and one per factor of 2048 (with groups of 256) of
 * partial results. Sums of integers wrap at 64 bits. Sums of f32 are within 2 log2(n) 2^-24 of the sum of
 * magnitudes. Sums of f64 need a device with fp64; sums of f16 and bf16 are not supported. Minimum and maximum propagate
 * NaN, and -0 is below +0.
 */
export class Reduction {
  readonly dtype: Dtype;
  readonly op: ReduceOp;
  readonly #device: Device;
  readonly #program: Program;
  readonly #groupSize: number;
  /** Order of keys for a minimum or maximum. */
  readonly codec: KeyCodec;

  private constructor(device: Device, info: DtypeInfo, op: ReduceOp, program: Program, groupSize: number) {
    this.#device = device;
    this.dtype = info.name;
    this.op = op;
    this.#program = program;
    this.#groupSize = groupSize;
    // NaN wins: its code is the largest for a maximum, the smallest for a minimum.
    this.codec = keyCodec(info.name, { nan: op === 'min' ? 'first' : 'last' });
  }

  /** @throws UnsupportedError, BuildError */
  static async create(
    device: Device,
    { dtype, op, lab, subGroups = false }: ReductionOptions,
  ): Promise<Reduction> {
    const info = dtypeInfo(dtype);
    assertReducible(dtype, op);
    assertArithmetic(device, dtype, op);
    const steps: readonly ReduceStep[] = subGroups ? [SUBGROUPS] : REDUCE_STEPS;
    const kernels = [...steps.map((step) => `reduce_${step}`), 'reduce_partials'];
    const file = subGroups ? 'reduce_lab.cl' : 'reduce.cl';
    const defines = { KEY_BITS: info.width, VALUE_BYTES: 0, OP: OPS[op], KIND: KINDS[info.kind] };
    const form = subGroups ? subGroupsOf(device) : undefined;
    const all = { ...defines, ...(form && { SUB_GROUPS: form }) };
    // Sub-groups require OpenCL C 2.0, and are optional again in 3.0.
    const standard = form === 1 ? [`-cl-std=CL${device.capabilities.version >= 3 ? '3.0' : '2.0'}`] : [];
    const { program, groupSize } = await buildForGroups(device, file, kernels, all, lab, standard);
    return new Reduction(device, info, op, program, groupSize);
  }

  #groups(n: number, step: ReduceStep): number {
    if (step === 'grid') return gridStrideGroups(this.#device, n, this.#groupSize);
    return Math.max(1, Math.ceil(n / (this.#groupSize * (LOADS[step] ?? 1))));
  }

  /** Work-items per group. */
  get groupSize(): number {
    return this.#groupSize;
  }

  /** Work-items per sub-group. @throws UnsupportedError when the driver does not report it */
  get subGroupSize(): number {
    if (subGroupsOf(this.#device) === 2) return WARP;
    return this.#program.kernel(`reduce_${SUBGROUPS}`).subGroupSize(this.#groupSize);
  }

  /** Returns the groups of each launch: the one that reads the keys, then those that reduce partial results. */
  launches(n: number, step: ReduceStep): number[] {
    const groups = [this.#groups(n, step)];
    for (let last = groups[0] ?? 1; last > 1; groups.push(last)) {
      last = Math.ceil(last / (this.#groupSize * PARTIALS_PER_ITEM));
    }
    return groups;
  }

  /** Returns the bytes of each of the two buffers of partial results. */
  partialBytes(n: number, step: ReduceStep = 'grid'): number {
    return this.#groups(n, step) * 8;
  }

  /**
   * Enqueues the reduction.
   *
   * @param work.traces if compiled with a trace: one buffer for each of `launches`
   * @returns the one of `partials` whose first element receives the result
   */
  enqueue(
    queue: Queue,
    {
      keys,
      n,
      partials,
      traces = [],
    }: { keys: Buffer; n: number; partials: readonly [Buffer, Buffer]; traces?: readonly Buffer[] },
    step: ReduceStep = 'grid',
  ): Buffer {
    const [trace, ...above] = traces;
    const local = this.#groupSize;
    let count = this.#groups(n, step);
    let [from, to] = partials;
    const codec = codecArgument(this.codec);
    const args: KernelArgument[] = [keys, from, u64(n), codec, ...(trace ? [trace] : [])];
    queue.run(this.#program.kernel(`reduce_${step}`), args, { global: count * local, local });
    while (count > 1) {
      const groups = Math.ceil(count / (local * PARTIALS_PER_ITEM));
      const traced = above.shift();
      const next = [from, to, u64(count), ...(traced ? [traced] : [])];
      queue.run(this.#program.kernel('reduce_partials'), next, { global: groups * local, local });
      [from, to] = [to, from];
      count = groups;
    }
    return from;
  }

  /** Returns the result as a number (32 bits and fewer, floats) or BigInt, from the first 8 bytes of its buffer. */
  value(bytes: Uint8Array): number | bigint {
    return reducedValue(this.dtype, this.op, new DataView(bytes.buffer, bytes.byteOffset, 8));
  }
}
