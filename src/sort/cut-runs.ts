import type { Buffer } from '../device/buffer.js';
import type { Device } from '../device/device.js';
import type { Program } from '../device/program.js';
import { u32, u64, vector } from '../device/queue.js';
import { codecVector, type KeyCodec } from '../keys/key-codec.js';

/** Most runs: each is an argument of the kernel. */
export const MAX_RUNS = 8;

/** Sorted runs of `runKeys` keys each, `n` in all. */
export interface Runs {
  readonly runs: readonly Buffer[];
  readonly n: number;
  readonly runKeys: number;
  readonly codec: KeyCodec;
  readonly bits: readonly [begin: number, end: number];
}

/** Finds where sorted runs are to be cut so that parts of the merged whole come from slices: see cl/cut_runs.cl. */
export class CutRuns {
  readonly #device: Device;
  readonly #program: Program;

  private constructor(device: Device, program: Program) {
    this.#device = device;
    this.#program = program;
  }

  /** @throws BuildError */
  static async create(device: Device, keyBits: number): Promise<CutRuns> {
    return new CutRuns(device, await device.program('cut_runs.cl', { KEY_BITS: keyBits, VALUE_BYTES: 0 }));
  }

  /**
   * Enqueues the search.
   *
   * @returns for each run's number of keys, once the queue has finished: how many keys of each run are among
   *   the first so many of all, `[rank][run]`; the last rank is n
   * @throws MemoryError
   */
  enqueue({ runs, n, runKeys, codec, bits: [begin, end] }: Runs): () => number[][] {
    const { queue, pool } = this.#device;
    const ranks = Math.ceil(n / runKeys);
    const cuts = new BigUint64Array(ranks * MAX_RUNS);
    const buffer = pool.take(cuts.byteLength);
    try {
      const all = Array.from({ length: MAX_RUNS }, (_, r) => runs[r] ?? (runs[0] as Buffer));
      const order = [u32(begin), u32(end - begin), vector(codecVector(codec))];
      queue.run(this.#program.kernel('cut_runs'), [...all, buffer, u64(n), u64(runKeys), ...order], {
        global: ranks * MAX_RUNS,
        local: MAX_RUNS,
      });
      queue.read(buffer, cuts);
    } finally {
      pool.give(buffer);
    }
    return () =>
      Array.from({ length: ranks }, (_, rank) =>
        Array.from(cuts.subarray(rank * MAX_RUNS, rank * MAX_RUNS + runs.length), Number),
      );
  }
}
