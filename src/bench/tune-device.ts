/** What a search needs of a real device: sorts with given parameters, checked, then timed. */
import type { Algorithm } from '../algorithms/algorithm.js';
import type { Tuning } from '../algorithms/parameters.js';
import { algorithmNamed, plannedOn, untestedAlgorithm } from '../algorithms/registry.js';
import { measureWithScratch } from '../algorithms/run.js';
import { tuningFor } from '../algorithms/tuning.js';
import type { Crossovers } from '../algorithms/tuning-rows.js';
import type { Device } from '../device/device.js';
import { type Distribution, generate } from '../io/gen.js';
import type { Dtype } from '../keys/dtype.js';
import { Sorter } from '../sort/api/sorter.js';
import { chunkLimit } from '../sort/backend/planner.js';
import { selfTest } from '../sort/verification/self-test.js';
import { BuildError, MemoryError, UnsupportedError } from '../util/errors.js';
import { BusyWork } from './busy-work.js';
import { SortArrays } from './sort-arrays.js';
import { SEED } from './sorts.js';
import { isSlower, type Timing, timing } from './statistics.js';
import type { Trial, TuneCase } from './tune.js';

const DTYPES = { 8: 'u8', 16: 'u16', 32: 'u32', 64: 'u64' } as const satisfies Record<number, Dtype>;

/** Sorts that are timed, and those before them that let clocks and caches settle: of few keys it takes more. */
const roundsOf = (n: number): { warmUps: number; repeats: number } =>
  n < 2 ** 21 ? { warmUps: 60, repeats: 31 } : { warmUps: 3, repeats: 9 };

/**
 * Keys that are sorted, one kind after the other: what is fastest for random ones may queue up at the counters of a bin
 * that many keys share, or meet in the same banks of local memory when keys are evenly spaced.
 */
const KINDS: readonly Distribution[] = ['two', 'reversed', 'uniform'];
/** And those that an algorithm has to find out about: of these keys few digits tell too few apart, and a sample shows it. */
const MORE_KINDS: Readonly<Record<string, readonly Distribution[]>> = { wide: ['runs', 'and3'] };

/** The present parameters of a case. */
export const currentTuning = (device: Device, { algorithm, which, n }: TuneCase): Tuning =>
  tuningFor(algorithmNamed(algorithm), device, { keyBits: which.keyBits, valueBytes: which.valueBytes }, n);

/** Parameters of a case as the device can hold them, with the present ones that are not given: what takes more than it has is made smaller. */
export function fitTuning(device: Device, one: TuneCase, given: Tuning): Tuning {
  const { keyBits, valueBytes } = one.which;
  const tuning = { ...currentTuning(device, one), ...given };
  return algorithmNamed(one.algorithm).fit?.(device, { keyBits, valueBytes }, tuning) ?? tuning;
}

/** Has the device memory for the sorts of a case? */
export const fits = (device: Device, { which: { keyBits, valueBytes }, n }: TuneCase): boolean =>
  n <= chunkLimit(device.capabilities, { dtype: DTYPES[keyBits], valueBytes });

/** The algorithm of a case with some parameters, or why there is none. @throws BuildError */
function compileCase(
  device: Device,
  { algorithm, which: { keyBits, valueBytes }, n }: TuneCase,
  tuning: Tuning,
): Promise<Algorithm | string> {
  const request = { dtype: DTYPES[keyBits], n, bits: [0, keyBits] as const, valueBytes };
  return untestedAlgorithm(device, algorithm, request, tuning);
}

/** The sorts of one case, on arrays that all tries share. */
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

  /** @throws BuildError, MemoryError */
  static async open(device: Device, tuneCase: TuneCase): Promise<CaseBench> {
    const { keyBits, valueBytes } = tuneCase.which;
    const shape = { dtype: DTYPES[keyBits], valueBytes, n: tuneCase.n };
    return new CaseBench(device, tuneCase, await SortArrays.open(device, shape));
  }

  close(): void {
    this.#busyWork?.close();
    this.#arrays.close();
  }

  /** Tries parameters: compiles, verifies, and times what is right. */
  async attempt(tuning: Tuning): Promise<Trial> {
    try {
      // A smaller tile would be built instead, which is tried under its own name.
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
      // Too many registers or too much local memory show at the compilation or at the launch.
      const types = [BuildError, MemoryError, UnsupportedError];
      if (!(error instanceof Error) || !types.some((type) => error instanceof type)) throw error;
      return { result: 'unsupported', reason: error.message };
    }
  }

  /** The self-test that every variant has to pass before it is used. @returns undefined, or what it found */
  async selfTest(tuning: Tuning): Promise<string | undefined> {
    const algorithm = await compileCase(this.#device, this.#tuneCase, tuning);
    if (typeof algorithm === 'string') return algorithm;
    const { ok, reason } = await selfTest(algorithm);
    return ok ? undefined : reason;
  }

  /** Enqueues the upload of the keys of some kind. */
  #upload(kind: Distribution): void {
    const { n, which } = this.#tuneCase;
    const made = () => generate({ dtype: DTYPES[which.keyBits], count: n, distribution: kind, seed: SEED });
    const keys = this.#keys.get(kind) ?? made();
    this.#keys.set(kind, keys);
    this.#arrays.upload(keys);
  }

  /** A sort of each kind: seconds on the device where it tells, else by the host's clock. */
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

/** Powers of two between which the crossover of host and device is looked for. */
const HOST_BITS = [4, 20] as const;
/** Likewise of one work-group and of many. */
const SINGLE_WORKGROUP_BITS = [6, 14] as const;

/** Sorts of each size and engine: small ones take fewer than it takes to be compiled. */
const END_TO_END_ROUNDS = [20, 300] as const;

/** Is the first Sorter done before the second, from typed array to new typed array? They take turns. */
async function isFaster(first: Sorter, second: Sorter, keys: Uint32Array): Promise<boolean> {
  const [minRounds, maxRounds] = END_TO_END_ROUNDS;
  const rounds = Math.max(minRounds, Math.min(maxRounds, Math.floor(2 ** 20 / keys.length)));
  const seconds: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    for (const [i, sorter] of [first, second].entries()) {
      const started = performance.now();
      await sorter.sort(keys);
      // The first half lets both be compiled.
      if (round >= rounds / 2) seconds[i]?.push((performance.now() - started) / 1000);
    }
  }
  return timing(seconds[0]).median < timing(seconds[1]).median;
}

/**
 * Measures, for u32 keys and in powers of two, from which number on the device is done before the host engine,
 * and up to which one work-group is the fastest way on the device.
 *
 * @param more false when time is up
 * @returns what could be measured in the time
 */
export async function measureCrossovers(device: Device, more: () => boolean): Promise<Partial<Crossovers>> {
  const singleWorkgroup = await singleWorkgroupCrossover(device, more);
  await using sorter = await Sorter.open({ device: device.info.id, onWarning: () => undefined });
  await using host = await Sorter.open({ device: 'host' });
  const [first, last] = HOST_BITS;
  let wins = 0;
  for (let bits = first; bits <= last && more(); bits++) {
    const bytes = generate({ dtype: 'u32', count: 2 ** bits, distribution: 'uniform', seed: SEED });
    const keys = new Uint32Array(bytes.buffer as ArrayBuffer);
    wins = (await isFaster(sorter, host, keys)) ? wins + 1 : 0;
    // Once may be chance.
    if (wins === 2) return { host: 2 ** (bits - 1), ...singleWorkgroup };
  }
  return singleWorkgroup;
}

async function singleWorkgroupCrossover(device: Device, more: () => boolean): Promise<Partial<Crossovers>> {
  // What sorts on the device when `single-workgroup` does not.
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
    if (alone.result !== 'ok' || other.result !== 'ok') return {}; // one of them is not for so many keys
    if (isSlower(other.time, alone.time)) return { group: 2 ** (bits - 1) };
  }
  return {};
}
