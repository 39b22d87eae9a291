import type { Algorithm } from '../algorithms/algorithm.js';
import { Device } from '../device/device.js';
import type { StageTime } from '../device/queue.js';
import {
  assertDisjoint,
  emptyLike,
  type KeyColumn,
  keyColumn,
  type ValueArray,
  valueColumn,
} from '../keys/array.js';
import type { KeyArray } from '../keys/dtype.js';
import { keyCodec } from '../keys/key-codec.js';
import {
  AbortedError,
  BuildError,
  type ClsortError,
  MismatchError,
  NoDeviceError,
  NoLoaderError,
  NoPlatformError,
  UnsupportedError,
  UsageError,
} from '../util/errors.js';
import { DeviceSort } from './device-sort.js';
import { hostGather, hostSortInTurns } from './host-sort.js';
import { hostVerify } from './host-verify.js';
import {
  bitWindow,
  type OpenOptions,
  parseOpenOptions,
  parseSortOptions,
  type SortOptions,
  type SortSettings,
} from './options.js';
import { devicePlans, hostPlan, type Plan, type PlanRequest } from './planner.js';
import type { ReportDevice, StageReport } from './report.js';
import { lendInput, lendOutput } from './transfer.js';
import type { Verified } from './verify.js';

/** Widths of values that kernels carry along; others are gathered on the host after an argsort. */
const CARRIED_VALUE_BYTES = new Set([0, 1, 2, 4, 8, 16]);

/** A device sort that verification rejects is tried on this many algorithms before the host sorts. */
const DEVICE_ATTEMPTS = 2;

/** Largest position that a 32-bit index can hold, plus one. */
const MAX_INDICES = 2 ** 32;

const HOST: ReportDevice = { name: 'host', type: 'host' };

/** Arrays of one sort on the host, beside its keys. */
export interface HostArrays {
  /** Where sorted keys go; left out for an argsort. */
  readonly sorted?: ArrayBufferView;
  readonly values?: { readonly view: ArrayBufferView; readonly bytes: number };
  /** Where values (or, without `values`, 32-bit positions) go. */
  readonly moved?: ArrayBufferView;
}

/** One sort as the public functions hand it to `#run`. */
interface Job extends HostArrays {
  readonly keys: KeyColumn;
  readonly settings: SortSettings;
}

interface Outcome {
  readonly plan: Plan;
  readonly stages: readonly StageTime[];
  readonly verified?: Verified;
}

/**
 * Sorts on one device, which it owns together with a command queue, compiled programs and pooled memory.
 *
 * Calls may overlap; they run one after the other. `close()` (or `await using`) gives everything back.
 */
export class Sorter implements AsyncDisposable {
  readonly #device: Device | undefined;
  readonly #engine: DeviceSort | undefined;
  readonly #onWarning: (warning: ClsortError) => void;
  /** The host engine was asked for, rather than being all there is. */
  readonly #hostWanted: boolean;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  private constructor(onWarning: (warning: ClsortError) => void, device?: Device, hostWanted = false) {
    this.#onWarning = onWarning;
    this.#hostWanted = hostWanted;
    this.#device = device;
    this.#engine = device && new DeviceSort(device);
  }

  /**
   * Opens a device: `auto` (default: the best there is, the host engine if there is none), `cpu`, `gpu`,
   * `host`, `P:D`, or a part of a device's or platform's name.
   *
   * @throws UsageError, NoLoaderError, NoPlatformError, NoDeviceError
   */
  static async open(options: OpenOptions = {}): Promise<Sorter> {
    const { device, onWarning } = parseOpenOptions(options);
    if (device === 'host') return new Sorter(onWarning, undefined, true);
    try {
      return new Sorter(onWarning, await Device.open(device));
    } catch (error) {
      if (device !== 'auto' || !isAbsence(error)) throw error;
      onWarning(
        new NoDeviceError(`no OpenCL device, so the host engine sorts: ${error.message}`, { cause: error }),
      );
      return new Sorter(onWarning);
    }
  }

  /** The opened device, undefined when the host engine sorts. */
  get device(): Device['info'] | undefined {
    return this.#device?.info;
  }

  /**
   * Sorts `keys` into a new array of the same type. Stable; see the README for the total order.
   *
   * @throws UsageError, DtypeError, InputError, AbortedError, MemoryError, UnsupportedError, MismatchError, …
   */
  async sort<K extends KeyArray>(keys: K, options?: SortOptions): Promise<K> {
    const { column, settings } = read(keys, options);
    const sorted = emptyLike(keys);
    await this.#run({ keys: column, settings, sorted });
    return sorted;
  }

  /**
   * The positions of `keys` in sorted order: `keys[result[0]]` is the first.
   *
   * @throws as `sort`; InputError for 2^32 keys and more
   */
  async argsort(keys: KeyArray, options?: SortOptions): Promise<Uint32Array> {
    const { column, settings } = read(keys, options);
    if (column.n >= MAX_INDICES) {
      throw new UnsupportedError(`argsort gives 32-bit positions: at most 2^32 - 1 keys, not ${column.n}`);
    }
    const moved = new Uint32Array(column.n);
    await this.#run({ keys: column, settings, moved });
    return moved;
  }

  /**
   * Sorts `keys` and moves `values` along: `values` holds the same number of elements of 1 to 16 bytes.
   *
   * @throws as `sort`; InputError when the lengths do not fit
   */
  async sortPairs<K extends KeyArray, V extends ValueArray>(
    keys: K,
    values: V,
    options?: SortOptions,
  ): Promise<{ keys: K; values: V }> {
    const { column, settings } = read(keys, options);
    const { bytes } = valueColumn(values, column);
    assertDisjoint(keys, values, 'keys and values');
    const sorted = emptyLike(keys);
    const moved = emptyLike(values);
    if (CARRIED_VALUE_BYTES.has(bytes)) {
      await this.#run({ keys: column, settings, sorted, values: { view: values, bytes }, moved });
    } else {
      const positions = new Uint32Array(column.n);
      await this.#run({ keys: column, settings, sorted, moved: positions });
      hostGather(values, positions, bytes, moved);
    }
    return { keys: sorted, values: moved };
  }

  /** Waits for what is running, then releases the device. May be called twice. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#last;
    await this.#device?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** One after the other: overlapping sorts would only share the device and mix their stage times. */
  #run(job: Job): Promise<void> {
    if (this.#closed) throw new UsageError('this Sorter is closed: open another one');
    const result = this.#last.then(() => this.#sort(job));
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #sort(job: Job): Promise<void> {
    const { keys, settings } = job;
    const started = performance.now();
    throwIfAborted(settings.signal);
    settings.onProgress?.({ phase: 'sort', done: 0, total: keys.n });
    const warn = settings.onWarning ?? this.#onWarning;
    const { plan, stages, verified } = await this.#execute(job, warn);
    throwIfAborted(settings.signal);
    settings.onProgress?.({ phase: 'sort', done: keys.n, total: keys.n });
    settings.onReport?.({
      n: keys.n,
      dtype: keys.dtype,
      device: this.#describe(plan),
      algorithm: plan.algorithm,
      ...(plan.scan && { scan: plan.scan }),
      ...(plan.padded && { padded: plan.padded }),
      ...(verified && { verified }),
      reason: plan.reason,
      stages: summarize(stages),
      seconds: (performance.now() - started) / 1000,
    });
  }

  #describe({ engine }: Plan): ReportDevice {
    if (engine === 'host' || !this.#device) return HOST;
    const { name, type, platform, driver, id } = this.#device.info;
    return { name, type, platform, driver, id };
  }

  async #execute(job: Job, warn: (warning: ClsortError) => void): Promise<Outcome> {
    const { keys, settings } = job;
    const request: PlanRequest = {
      n: keys.n,
      dtype: keys.dtype,
      bits: bitWindow(settings.bits, keys.info),
      valueBytes: job.values?.bytes ?? (job.moved ? 4 : 0),
      algorithm: settings.algorithm,
      scan: settings.scan,
    };
    const device = this.#device;
    const engine = this.#engine;
    if (!device || !engine || settings.algorithm === 'host' || keys.n === 0) {
      const reason =
        keys.n === 0 ? 'nothing to sort' : device || this.#hostWanted ? 'asked for' : 'no OpenCL device';
      if (!device && settings.algorithm !== 'host' && settings.algorithm !== 'auto') {
        throw new UnsupportedError(`algorithm '${settings.algorithm}' needs an OpenCL device; there is none`);
      }
      return hostOutcome(job, hostPlan(request, reason));
    }
    let attempts = 0;
    const failures: string[] = [];
    for (const plan of devicePlans(device, request)) {
      if (attempts === DEVICE_ATTEMPTS) break;
      const algorithm = await prepare(engine, plan, settings, failures, warn);
      if (!algorithm) continue;
      attempts++;
      const outcome = await this.#attempt(device, engine, algorithm, plan, job);
      if (typeof outcome !== 'string') return outcome;
      failures.push(`${plan.algorithm} ${outcome}`);
      const message = `${plan.algorithm} on ${device.info.name} ${outcome}`;
      if (settings.onMismatch === 'throw') throw new MismatchError(`${message}: its result is not used`);
      warn(new MismatchError(`${message}; another way is tried`));
    }
    if (attempts === 0) {
      throw new UnsupportedError(`no algorithm could be used on ${device.info.name}: ${failures.join('; ')}`);
    }
    warn(new MismatchError(`the host engine sorts, since on ${device.info.name}: ${failures.join('; ')}`));
    return hostOutcome(job, hostPlan(request, failures.join('; ')));
  }

  /** Sorts by one plan. @returns the outcome, or in words why it must not be used */
  async #attempt(
    device: Device,
    engine: DeviceSort,
    algorithm: Algorithm,
    plan: Plan,
    job: Job,
  ): Promise<Outcome | string> {
    const { keys, settings, values, moved, sorted } = job;
    const verifier = settings.verify ? await engine.verifier(plan) : undefined;
    const { queue, pool } = device;
    const profiled = settings.profile || settings.onReport !== undefined;
    if (profiled) queue.startProfile();
    const lent: { release(): void }[] = [];
    const keep = <L extends { release(): void }>(one: L): L => {
      lent.push(one);
      return one;
    };
    try {
      const input = keep(lendInput(device, keys.view));
      const inputValues = values && keep(lendInput(device, values.view));
      // The keys of an argsort are sorted too, but stay on the device.
      const scratchKeys = sorted ? undefined : pool.take(keys.view.byteLength);
      if (scratchKeys) keep({ release: () => pool.give(scratchKeys) });
      const output = sorted && keep(lendOutput(device, sorted));
      const outputValues = moved && keep(lendOutput(device, moved));
      const pending = engine.enqueue(
        algorithm,
        plan,
        {
          input: input.buffer,
          output: output?.buffer ?? scratchKeys ?? input.buffer,
          ...(inputValues && { inputValues: inputValues.buffer }),
          ...(outputValues && { outputValues: outputValues.buffer }),
          codec: keyCodec(keys.dtype, settings),
          indices: moved !== undefined && values === undefined,
          verify: settings.verify,
        },
        verifier,
      );
      output?.collect();
      outputValues?.collect();
      await queue.finish(settings.timeout);
      const { gaveUp, verified } = pending.settle();
      if (gaveUp) return 'gave up (a bounded wait between its work-groups ran out)';
      if (verified && !verified.order) return 'left keys out of order';
      if (verified && !verified.permutation) return 'lost or changed elements';
      return { plan, stages: profiled ? queue.endProfile() : [], ...(verified && { verified }) };
    } catch (error) {
      if (profiled) queue.endProfile();
      throw error;
    } finally {
      for (const one of lent) one.release();
    }
  }
}

/** Compiles a plan's algorithm; under `auto` a failure is a warning and the next plan is tried. */
async function prepare(
  engine: DeviceSort,
  plan: Plan,
  settings: SortSettings,
  failures: string[],
  warn: (warning: ClsortError) => void,
): Promise<Algorithm | undefined> {
  try {
    return await engine.prepare(plan);
  } catch (error) {
    // That an algorithm does not serve this size is the planner's business; that it does not work is worth a warning.
    const broken = error instanceof BuildError || error instanceof MismatchError;
    if (settings.algorithm !== 'auto' || !(broken || error instanceof UnsupportedError)) throw error;
    failures.push(error.message);
    if (broken) warn(error);
    return undefined;
  }
}

/** Keys and options as a caller passes them, checked. */
function read<K extends KeyArray>(keys: K, options: SortOptions = {}) {
  const settings = parseSortOptions(options);
  if (options.device !== undefined) {
    throw new UsageError("option 'device' belongs to Sorter.open: this Sorter has its device already");
  }
  return { column: keyColumn(keys, settings.dtype), settings };
}

/** There is no OpenCL here: no loader, driver or device, or no addon for this Node and system. */
const isAbsence = (error: unknown): error is Error =>
  [NoLoaderError, NoPlatformError, NoDeviceError, UnsupportedError].some((type) => error instanceof type);

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new AbortedError('the sort was aborted', { cause: signal.reason });
}

/** Sorts on the host, and checks when asked to: the host engine is trusted no more than a device. */
async function hostOutcome({ keys, settings, ...arrays }: Job, plan: Plan): Promise<Outcome> {
  const started = performance.now();
  await hostSortInTurns(keys, settings, arrays, settings.signal);
  const seconds = (performance.now() - started) / 1000;
  const verified = settings.verify ? hostVerify(keys, settings, arrays) : undefined;
  if (verified && !(verified.order && verified.permutation)) {
    throw new MismatchError('the host engine made a wrong result: please report this', {
      details: { verified },
    });
  }
  return { plan, stages: [{ stage: 'host sort', seconds }], ...(verified && { verified }) };
}

/** Launches of the same stage together, in order of first appearance. */
function summarize(times: readonly StageTime[]): StageReport[] {
  const stages = new Map<string, { stage: string; launches: number; seconds: number | null }>();
  for (const { stage, seconds } of times) {
    const sum = stages.get(stage);
    if (!sum) stages.set(stage, { stage, launches: 1, seconds });
    else {
      sum.launches++;
      sum.seconds = sum.seconds === null || seconds === null ? null : sum.seconds + seconds;
    }
  }
  return [...stages.values()];
}
