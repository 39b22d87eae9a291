import { codecArgument } from '../../device/codec-argument.js';
import type { Device } from '../../device/device.js';
import { roundUpToGroups } from '../../device/fitted-program.js';
import type { Buffer } from '../../device/memory/buffer.js';
import type { Program } from '../../device/programs/program.js';
import { u32, u64 } from '../../device/queue/queue.js';
import type { KeyCodec } from '../../keys/key-codec.js';
import { powerAtMost } from '../../util/powers.js';

/** Most runs: each is an argument of the kernels. */
export const MAX_RUNS = 8;

/** Sorted runs of `runKeys` keys each, `n` in total; the last one may be shorter. */
export interface Runs {
  readonly runs: readonly Buffer[];
  readonly n: number;
  readonly runKeys: number;
  readonly codec: KeyCodec;
  readonly bits: readonly [begin: number, end: number];
}

/** Returns the bytes of the cuts: 64-bit counts, `[rank][run]`. */
export const cutBytes = ({ n, runKeys }: Pick<Runs, 'n' | 'runKeys'>): number =>
  Math.ceil(n / runKeys) * MAX_RUNS * 8;

/** Returns the arguments for all runs; missing runs have no keys. */
const asArguments = (runs: readonly Buffer[]): Buffer[] =>
  Array.from({ length: MAX_RUNS }, (_, r) => runs[r] ?? (runs[0] as Buffer));

/**
 * Merges sorted runs part by part: finds where to cut the runs, and gathers the slices of a part. See
 * cl/cut_runs.cl and cl/take_slices.cl.
 */
export class RunCutter {
  readonly #device: Device;
  readonly #keyBits: number;
  readonly #cut: Program;
  readonly #take: ReadonlyMap<number, Program>;

  private constructor(device: Device, keyBits: number, cut: Program, take: ReadonlyMap<number, Program>) {
    this.#device = device;
    this.#keyBits = keyBits;
    this.#cut = cut;
    this.#take = take;
  }

  /**
   * Compiles the kernels.
   *
   * @throws BuildError when they do not compile
   */
  static async create(device: Device, shape: { keyBits: number; valueBytes: number }): Promise<RunCutter> {
    const { keyBits, valueBytes } = shape;
    const cut = await device.program('cut_runs.cl', { KEY_BITS: keyBits, VALUE_BYTES: 0 });
    const take = new Map<number, Program>();
    for (const bytes of new Set([keyBits / 8, valueBytes].filter((width) => width > 0))) {
      take.set(bytes, await device.program('take_slices.cl', { ELEMENT_BYTES: bytes }));
    }
    return new RunCutter(device, keyBits, cut, take);
  }

  /**
   * Enqueues the search for the cuts.
   *
   * @param cuts receives, for each rank that is a multiple of `runKeys` and for n, how many keys of each run
   *   are among the first `rank` of all
   */
  cut({ runs, n, runKeys, codec, bits: [begin, end] }: Runs, cuts: Buffer): void {
    const order = [u32(begin), u32(end - begin), codecArgument(codec)];
    const args = [...asArguments(runs), cuts, u64(n), u64(runKeys), ...order];
    const global = Math.ceil(n / runKeys) * MAX_RUNS;
    this.#device.queue.run(this.#cut.kernel('cut_runs'), args, { global, local: MAX_RUNS });
  }

  /**
   * Enqueues the gathering of one part.
   *
   * @param runs keys, or the values that belong to them
   * @param count number of elements of the part
   * @throws RangeError when no kernel was compiled for elements of `bytes` bytes
   */
  take(
    runs: readonly Buffer[],
    { bytes, cuts, slices }: { bytes: number; cuts: Buffer; slices: Buffer },
    { part, count }: { part: number; count: number },
  ): void {
    const program = this.#take.get(bytes);
    if (!program)
      throw new RangeError(
        `cannot cut elements of ${bytes} bytes: the program is for keys of ${this.#keyBits} bits`,
      );
    const kernel = program.kernel('take_slices');
    const local = Math.min(256, powerAtMost(kernel.workGroupLimit));
    const args = [...asArguments(runs), cuts, slices, u32(part), u64(count)];
    this.#device.queue.run(kernel, args, { global: roundUpToGroups(count, local), local });
  }
}
