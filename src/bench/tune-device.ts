/** Runs the trials of a tuning search on a device: sorts with given parameters, verified and then timed. */
import type { Algorithm } from '../algorithms/algorithm.js';
import type { Tuning } from '../algorithms/parameters.js';
import { algorithmNamed, plannedOn, untestedAlgorithm } from '../algorithms/registry.js';
import { measureWithScratch } from '../algorithms/run.js';
import { tuningFor } from '../algorithms/tuning.js';
import type { Crossovers } from '../algorithms/tuning-rows.js';
import type { Device } from '../device/device.js';
import { type Distribution, generate } from '../io/operations/gen.js';
import type { Dtype } from '../keys/dtype.js';
import { chunkLimit } from '../sort/backend/planner.js';
import { selfTest } from '../sort/verification/self-test.js';
import { BuildError, MemoryError, UnsupportedError } from '../util/errors.js';
import { measureBreakEvens } from './break-even.js';
import { BusyWork } from './busy-work.js';
import { SortArrays } from './sort-arrays.js';
import { SEED } from './sorts.js';
import { isSlower, type Timing, timing } from './statistics.js';
import type { Trial, TuneCase } from './tune.js';

const DTYPES = { 8: 'u8', 16: 'u16', 32: 'u32', 64: 'u64' } as const satisfies Record<number, Dtype>;

/**
 * Returns the number of timed sorts and of warm-up sorts; with few keys, clocks and caches need more sorts to settle.
 */
const roundsOf = (n: number): { warmUps: number; repeats: number } =>
  n < 2 ** 21 ? { warmUps: 60, repeats: 31 } : { warmUps: 3, repeats: 9 };

/**
 * Distributions that are sorted in turn. The fastest parameters for random keys may contend for the counter of a bin
 * that many keys share, or hit the same local memory banks when keys are evenly spaced.
 */
const KINDS: readonly Distribution[] = ['two', 'reversed', 'uniform'];
/**
 * Additional distributions per algorithm: few digits distinguish enough of these keys, which the algorithm detects by a
 * sample.
 */
const MORE_KINDS: Readonly<Record<string, readonly Distribution[]>> = { 'hybrid-radix': ['runs', 'and3'] };

/** Returns the current parameters of a case. */
export const currentTuning = (device: Device, { algorithm, which, n }: TuneCase): Tuning =>
  tuningFor(algorithmNamed(algorithm), device, { keyBits: which.keyBits, valueBytes: which.valueBytes }, n);

/** Completes parameters with the current ones, and reduces those that exceed the limits of the device. */
export function fitTuning(device: Device, one: TuneCase, given: Tuning): Tuning {
  const { keyBits, valueBytes } = one.which;
  const tuning = { ...currentTuning(device, one), ...given };
  return algorithmNamed(one.algorithm).fit?.(device, { keyBits, valueBytes }, tuning) ?? tuning;
}

/** Returns whether the device has enough memory for the sorts of a case. */
export const fits = (device: Device, { which: { keyBits, valueBytes }, n }: TuneCase): boolean =>
  n <= chunkLimit(device.capabilities, { dtype: DTYPES[keyBits], valueBytes });

/**
 * Compiles the algorithm of a case with given parameters.
 *
 * @returns the algorithm, or the reason why it is unsupported
 * @throws BuildError when it does not compile
 */
function compileCase(
  device: Device,
  { algorithm, which: { keyBits, valueBytes }, n }: TuneCase,
  tuning: Tuning,
): Promise<Algorithm | string> {
  const request = { dtype: DTYPES[keyBits], n, bits: [0, keyBits] as const, valueBytes };
  return untestedAlgorithm(device, algorithm, request, tuning);
}

/** The sorts of one case, on arrays that all trials share. */
export class CaseBench {
  readonly #device: Device;
  readonly #tuneCase: TuneCase;
  readonly #arrays: SortArrays;
  readonly #busyWork: BusyWork | undefined;
  readonly #kinds: readonly Distribution[];
  readonly #keys = new Map<Distribution, Uint8Array>();

  private constructor(device: Device, tuneCase: TuneCase, arrays: SortArrays) {
    this.#device = device;
    this.#tuneCase = tuneCase;
    this.#kinds = [...KINDS, ...(MORE_KINDS[tuneCase.algorithm] ?? [])];
    this.#arrays = arrays;
    this.#busyWork = BusyWork.open(device);
  }

  /**
   * Allocates the arrays of a case.
   *
   * @throws BuildError when the verifier does not compile
   * @throws MemoryError when the arrays cannot be allocated
   */
  static async open(device: Device, tuneCase: TuneCase): Promise<CaseBench> {
    const { keyBits, valueBytes } = tuneCase.which;
    const shape = { dtype: DTYPES[keyBits], valueBytes, n: tuneCase.n };
    return new CaseBench(device, tuneCase, await SortArrays.open(device, shape));
  }

  close(): void {
    this.#busyWork?.close();
    this.#arrays.close();
  }

  /** Tries parameters: compiles the algorithm, verifies its results, and times it when they are correct. */
  async attempt(tuning: Tuning): Promise<Trial> {
    try {
      // A smaller tile would be built instead, which is tried separately.
      const smaller = Object.entries(fitTuning(this.#device, this.#tuneCase, tuning)).find(
        ([name, value]) => tuning[name] !== undefined && tuning[name] !== value,
      );
      if (smaller)
        return { result: 'unsupported', reason: `the device has room for ${smaller.join(' ')} only` };
      const algorithm = await compileCase(this.#device, this.#tuneCase, tuning);
      if (typeof algorithm === 'string') return { result: 'unsupported', reason: algorithm };
      for (const kind of this.#kinds) {
        this.#upload(kind);
        const { gaveUp, wrong: reason = gaveUp } = await this.#arrays.trial(algorithm);
        if (reason) return { result: 'wrong', reason: `${kind} keys: ${reason}` };
      }
      return { result: 'ok', time: await this.#time(algorithm) };
    } catch (error) {
      // Excessive register or local memory use causes an error at compilation or at launch.
      const types = [BuildError, MemoryError, UnsupportedError];
      if (!(error instanceof Error) || !types.some((type) => error instanceof type)) throw error;
      return { result: 'unsupported', reason: error.message };
    }
  }

  /**
   * Runs the self-test that every variant must pass before it is used.
   *
   * @returns the failure; undefined when it passes
   */
  async selfTest(tuning: Tuning): Promise<string | undefined> {
    const algorithm = await compileCase(this.#device, this.#tuneCase, tuning);
    if (typeof algorithm === 'string') return algorithm;
    const { ok, reason } = await selfTest(algorithm);
    return ok ? undefined : reason;
  }

  /** Enqueues the upload of keys of a distribution. */
  #upload(kind: Distribution): void {
    const { n, which } = this.#tuneCase;
    const made = () => generate({ dtype: DTYPES[which.keyBits], count: n, distribution: kind, seed: SEED });
    const keys = this.#keys.get(kind) ?? made();
    this.#keys.set(kind, keys);
    this.#arrays.upload(keys);
  }

  /** Times a sort of each distribution: by device events if available, otherwise by the host's clock. */
  async #time(algorithm: Algorithm): Promise<Timing> {
    const { warmUps, repeats } = roundsOf(this.#tuneCase.n);
    const seconds: number[] = Array.from({ length: repeats }, () => 0);
    for (const kind of this.#kinds) {
      this.#upload(kind);
      for (let i = -warmUps; i < repeats; i++) {
        const tuneCase = await this.#timeOnce(algorithm);
        if (i >= 0) seconds[i] = (seconds[i] ?? 0) + tuneCase;
      }
    }
    return timing(seconds);
  }

  async #timeOnce(algorithm: Algorithm): Promise<number> {
    const started = performance.now();
    const measured = await measureWithScratch(
      this.#device.queue,
      () => this.#arrays.enqueue(algorithm),
      () => this.#busyWork?.enqueue(),
    );
    return measured ?? (performance.now() - started) / 1000;
  }
}

/** Exponents of two between which the crossover of one and several work-groups is searched. */
const SINGLE_WORKGROUP_BITS = [6, 14] as const;

/**
 * Measures the crossovers of a device: the sizes from which it is faster than the host engine, and the number of u32
 * keys up to which one work-group is the fastest on it, in powers of two.
 *
 * @param more returns false when the time is up
 * @returns the crossovers found in time
 */
export async function measureCrossovers(device: Device, more: () => boolean): Promise<Partial<Crossovers>> {
  const singleWorkgroup = await singleWorkgroupCrossover(device, more);
  const host = await measureBreakEvens(device.info.id, more);
  return { ...singleWorkgroup, ...(host.length > 0 && { host }) };
}

async function singleWorkgroupCrossover(device: Device, more: () => boolean): Promise<Partial<Crossovers>> {
  // The algorithm that the device uses when `single-workgroup` does not apply.
  const next = plannedOn(device).find(({ name }) => name !== 'single-workgroup')?.name ?? 'merge';
  const tryOut = async (algorithm: string, n: number): Promise<Trial> => {
    const one: TuneCase = { algorithm, which: { keyBits: 32, valueBytes: 0 }, n };
    const bench = await CaseBench.open(device, one);
    try {
      return await bench.attempt(currentTuning(device, one));
    } finally {
      bench.close();
    }
  };
  const [first, last] = SINGLE_WORKGROUP_BITS;
  for (let bits = first; bits <= last && more(); bits++) {
    const [alone, other] = [await tryOut('single-workgroup', 2 ** bits), await tryOut(next, 2 ** bits)];
    if (alone.result !== 'ok' || other.result !== 'ok') return {}; // unsupported for this number of keys
    if (isSlower(other.time, alone.time)) return { singleWorkgroup: 2 ** (bits - 1) };
  }
  return {};
}
