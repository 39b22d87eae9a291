import type { Device } from '../../device/device.js';
import { buildFittedProgram, type FittedProgram } from '../../device/fitted-program.js';
import type { Buffer } from '../../device/memory/buffer.js';
import type { Program } from '../../device/programs/program.js';
import { type KernelArgument, u64 } from '../../device/queue/queue.js';

/** Maximum loop iterations of a work-item: some drivers silently end longer loops. */
const MAX_ITERATIONS = 32_768;

/**
 * A kernel that reads every element once and writes 64-bit sums for each work-group. Each work-group handles
 * consecutive elements. The kernel has the name of its file, and receives its group size as LOCAL_SIZE.
 */
export class GroupSums {
  readonly #device: Device;
  readonly #program: Program;
  readonly #name: string;
  readonly #localSize: number;

  private constructor(device: Device, { program, groupSize }: FittedProgram, name: string) {
    this.#device = device;
    this.#program = program;
    this.#name = name;
    this.#localSize = groupSize;
  }

  /** @throws BuildError */
  static async create(
    device: Device,
    name: string,
    defines: Readonly<Record<string, number>> = {},
  ): Promise<GroupSums> {
    const maxGroupSize = device.capabilities.type === 'cpu' ? 1 : 256;
    const definesFor = (localSize: number) => ({ ...defines, LOCAL_SIZE: localSize });
    const fitted = await buildFittedProgram(device, `${name}.cl`, [name], maxGroupSize, definesFor);
    return new GroupSums(device, fitted, name);
  }

  /**
   * Enqueues one pass over `n` elements.
   *
   * @param args returns the kernel's arguments in order, given the buffer of the sums and the elements per work-group
   * @param sumsPerGroup sums that each work-group writes, consecutively
   * @param iterations maximum loop iterations per element; default 1
   * @returns the sums of all groups, valid after the queue has finished
   * @throws MemoryError
   */
  enqueue(
    n: number,
    args: (partials: Buffer, perGroup: KernelArgument) => KernelArgument[],
    { sumsPerGroup, stage, iterations = 1 }: { sumsPerGroup: number; stage: string; iterations?: number },
  ): BigUint64Array {
    const { queue, pool, capabilities } = this.#device;
    const wanted = capabilities.computeUnits * (capabilities.type === 'cpu' ? 2 : 16);
    const perGroup =
      Math.min(Math.ceil(n / wanted), this.#localSize * Math.floor(MAX_ITERATIONS / iterations)) || 1;
    const groups = Math.ceil(n / perGroup) || 1;
    const sums = new BigUint64Array(groups * sumsPerGroup);
    const partials = pool.take(sums.byteLength);
    try {
      queue.run(this.#program.kernel(this.#name), args(partials, u64(perGroup)), {
        global: groups * this.#localSize,
        local: this.#localSize,
        stage,
      });
      queue.read(partials, sums);
    } finally {
      pool.give(partials);
    }
    return sums;
  }
}

/** Returns the sum of every `stride`th number from index `first` on, modulo 2^64. */
export const total = (sums: BigUint64Array, first = 0, stride = 1): bigint =>
  BigInt.asUintN(
    64,
    sums.reduce((sum, word, i) => (i % stride === first ? sum + word : sum), 0n),
  );
