import type { Algorithm } from '../algorithms/algorithm.js';
import type { Buffer } from '../device/buffer.js';
import { Device } from '../device/device.js';
import type { StageTime } from '../device/queue.js';
import { bytesOf, keyWords } from '../keys/array.js';
import { type KeyCodec, keyCodec } from '../keys/key-codec.js';
import {
  BuildError,
  type ClsortError,
  DeviceLostError,
  MemoryError,
  MismatchError,
  TimeoutError,
  UnsupportedError,
} from '../util/errors.js';
import type { Checksums, Copy } from './checksum.js';
import { type HostJob, sortInChunks } from './chunked.js';
import { byteLengthOf, type Column, column, isOnDevice, type Place, type Values } from './column.js';
import { MAX_RUNS } from './cut-runs.js';
import { DeviceSort } from './device-sort.js';
import { hostSortInTurns } from './host-sort.js';
import { hostVerify } from './host-verify.js';
import { bitWindow, type SortSettings, throwIfAborted } from './options.js';
import { chunkLimit, hostPlan, type Plan, type PlanRequest } from './planner.js';
import type { ReportDevice, StageReport } from './report.js';
import { sortStreamed } from './streamed.js';
import type { Bits } from './survey.js';
import { borrow, lendInput, lendOutput } from './transfer.js';
import type { Verified } from './verify.js';

/** A device sort that verification rejects is tried on this many algorithms before the host sorts. */
const DEVICE_ATTEMPTS = 2;

/** Chunks are not made smaller than this for want of memory: a device that has not even that is broken. */
const SMALLEST_CHUNK = 4096;

/**
 * Fewer bytes arrive too soon for a sort in parts to be worth its second go at them. Measured on an H200 with
 * u32 keys in pinned memory, as a whole and in 8 parts: 2^26 keys 11.6 and 11.7 ms, 2^27 22.3 and 21.5, 2^28
 * 44.0 and 41.5, of which 38.7 are transfers. Through staging, parts take longer.
 */
const STREAMED_BYTES = 2 ** 29;

/** Algorithms that take a pass for each digit. */
const BY_DIGITS = new Set(['onesweep', 'tiled', 'serial', 'amd']);

const HOST: ReportDevice = { name: 'host', type: 'host' };

/** One sort. Nothing in it may share memory. */
export interface SortJob {
  readonly keys: Column;
  readonly settings: SortSettings;
  /** Where sorted keys go; left out when only the values are wanted. */
  readonly sorted?: Place;
  /** What travels along; without it, positions of 32 bits do. */
  readonly values?: Values;
  /** Where values or positions go; left out for keys alone. */
  readonly moved?: Place;
}

interface Outcome {
  readonly plan: Plan;
  readonly stages: readonly StageTime[];
  readonly verified?: Verified;
  /** Pieces that were sorted by themselves. */
  readonly chunks?: number;
}

/**
 * Runs sorts on one device, or on the host where there is none: plans, falls back, verifies, cuts into
 * chunks what does not fit, and reports. One at a time: that is the caller's business.
 */
export class Executor {
  #device: Device | undefined;
  #engine: DeviceSort | undefined;
  readonly #givenUp: (() => void)[] = [];
  readonly #onWarning: (warning: ClsortError) => void;
  /** Why the host engine sorts where there is no device: an error if none could be opened. */
  readonly #without: string | Error;

  constructor(
    onWarning: (warning: ClsortError) => void,
    device?: Device,
    without: string | Error = 'asked for',
  ) {
    this.#onWarning = onWarning;
    this.#without = without;
    this.#device = device;
    this.#engine = device && new DeviceSort(device);
  }

  /** What tells whether transfers changed anything; undefined without a device. @throws BuildError */
  async checksums(): Promise<Checksums | undefined> {
    return this.#engine?.checksums();
  }

  /** The device, undefined where the host engine sorts; another object after it was opened again. */
  get device(): Device | undefined {
    return this.#device;
  }

  /** Calls `then` when a device is given up: what it held is gone. */
  onGiveUp(then: () => void): void {
    this.#givenUp.push(then);
  }

  /**
   * Runs one operation. A device that fails in it, or lets a deadline pass, is given up, and opened again for
   * what comes next.
   *
   * @param task `again` tells, when the device was lost, whether the operation may be run once more: it reads
   *   and writes only memory of the host, and has not begun to write what it reads
   * @throws what `use` throws; DeviceLostError when the device cannot be opened again
   */
  async run<T>(use: () => Promise<T>, task: { readonly again: boolean }): Promise<T> {
    await this.#reopen();
    try {
      return await use();
    } catch (error) {
      if (!(await this.#giveUpFor(error)) || !task.again || !(error instanceof DeviceLostError)) throw error;
      this.#onWarning(
        new DeviceLostError(`the device was lost and is opened again: ${error.message}`, { cause: error }),
      );
    }
    await this.#reopen();
    try {
      return await use();
    } catch (error) {
      await this.#giveUpFor(error);
      throw error;
    }
  }

  /** Gives the device up if the error says that it is not to be trusted any more. */
  async #giveUpFor(error: unknown): Promise<boolean> {
    if (!this.#device || !(error instanceof DeviceLostError || error instanceof TimeoutError)) return false;
    for (const then of this.#givenUp) then();
    await this.#device.abandon();
    await this.#reopen().catch(() => undefined); // what comes next tries again, and tells
    return true;
  }

  async #reopen(): Promise<void> {
    if (!this.#device?.closed) return;
    const { id, name } = this.#device.info;
    try {
      this.#device = await Device.open(id);
    } catch (cause) {
      throw new DeviceLostError(`${name} was given up after a failure and cannot be opened again`, { cause });
    }
    this.#engine = new DeviceSort(this.#device);
  }

  /** @throws what the public functions of the Sorter say */
  async sort(job: SortJob): Promise<void> {
    const { keys, settings } = job;
    const started = performance.now();
    throwIfAborted(settings.signal);
    settings.onProgress?.({ phase: 'sort', done: 0, total: keys.n });
    const { plan, stages, verified, chunks } = await this.#fitting(job);
    throwIfAborted(settings.signal);
    settings.onProgress?.({ phase: 'sort', done: keys.n, total: keys.n });
    settings.onReport?.({
      n: keys.n,
      dtype: keys.dtype,
      device: this.#describe(plan),
      algorithm: plan.algorithm,
      ...(plan.scan && { scan: plan.scan }),
      ...(plan.padded && { padded: plan.padded }),
      bits: plan.bits,
      ...(chunks && { chunks }),
      ...(verified && { verified }),
      reason: plan.reason,
      stages: summarize(stages),
      seconds: (performance.now() - started) / 1000,
    });
  }

  /**
   * The plan that is tried first.
   *
   * @throws UnsupportedError as `sort`
   */
  plan(request: PlanRequest, chunkKeys: number): Plan {
    const { device } = this;
    const engine = this.#engine;
    const onHost = this.#hostReason(request);
    if (!device || !engine || onHost) return hostPlan(request, onHost ?? 'no OpenCL device');
    const chunk = Math.min(chunkKeys, chunkLimit(device.capabilities, request));
    if (chunk >= request.n) return firstOf(engine.plans(request));
    const plan = firstOf(engine.plans({ ...request, n: chunk }));
    return { ...plan, n: request.n, chunk, reason: `${plan.reason}, in chunks that fit the device` };
  }

  #describe({ engine }: Plan): ReportDevice {
    if (engine === 'host' || !this.device) return HOST;
    const { name, type, platform, driver, id } = this.device.info;
    return { name, type, platform, driver, id };
  }

  /** Why the host engine is to sort; undefined when the device is. */
  #hostReason({ n, algorithm }: PlanRequest): string | undefined {
    const absence = this.#without instanceof Error ? this.#without : undefined;
    if (!this.device && algorithm !== 'host' && algorithm !== 'auto') {
      throw new UnsupportedError(
        `algorithm '${algorithm}' needs an OpenCL device; ${absence ? `none was opened: ${absence.message}` : "'host' is none"}`,
        { cause: absence },
      );
    }
    if (n === 0) return 'nothing to sort';
    if (algorithm === 'host') return 'asked for';
    if (this.device) return undefined;
    return typeof this.#without === 'string' ? this.#without : 'no OpenCL device';
  }

  /** Sorts whole, or in chunks of half the size as often as memory does not suffice. */
  async #fitting(job: SortJob): Promise<Outcome> {
    const { keys, settings } = job;
    const request = requestOf(job);
    const { tuning } = settings;
    const host = hostJob(job);
    // What is on the device already has passed its limits.
    let chunk = host
      ? Math.min(
          tuning.chunk ?? Number.POSITIVE_INFINITY,
          this.device && settings.algorithm !== 'host'
            ? chunkLimit(this.device.capabilities, request)
            : Number.POSITIVE_INFINITY,
        )
      : Number.POSITIVE_INFINITY;
    for (;;) {
      try {
        if (chunk >= keys.n) return (await this.#streamed(job, host)) ?? (await this.#execute(job));
        return await this.#inChunks(host as HostJob, chunk);
      } catch (error) {
        const next = Math.ceil(Math.min(chunk, keys.n) / 2);
        if (!this.device || !(error instanceof MemoryError)) throw error;
        if (next < SMALLEST_CHUNK) throw keepsFailing(error);
        if (!host) throw error;
        this.device.pool.clear();
        this.warn(
          settings,
          new MemoryError(`${error.message}; going on with chunks of ${next} keys`, { cause: error }),
        );
        chunk = next;
      }
    }
  }

  /**
   * Sorts in parts while the data are on the way; undefined when that is nothing for this job, or has failed
   * in a way that another algorithm may not.
   */
  async #streamed(job: SortJob, host: HostJob | undefined): Promise<Outcome | undefined> {
    const { device } = this;
    const engine = this.#engine;
    const request = requestOf(job);
    if (!device || !engine || !host || this.#hostReason(request)) return undefined;
    const parts = partsOf(device, host);
    if (parts < 2) return undefined;
    const { settings } = job;
    const n = Math.ceil(request.n / parts);
    for (const plan of engine.plans({ ...request, n })) {
      if (engine.distrusts(plan)) continue;
      const warn = (warning: ClsortError) => this.warn(settings, warning);
      const algorithm = await prepare(engine, plan, settings, [], warn);
      if (!algorithm) continue;
      const cutter = await engine.cutter(plan);
      const { queue } = device;
      const profiled = settings.profile || settings.onReport !== undefined;
      if (profiled) queue.startProfile();
      try {
        const sorted = await sortStreamed({ device, algorithm, cutter, plan }, host);
        const stages = queue.endProfile();
        const reason = `${plan.reason}, in parts while the data are on the way`;
        return sorted ? { plan: { ...plan, n: request.n, reason }, stages, chunks: parts } : undefined;
      } finally {
        queue.endProfile();
      }
    }
    return undefined;
  }

  async #inChunks(job: HostJob, chunk: number): Promise<Outcome> {
    const { settings } = job;
    const outcomes: Outcome[] = [];
    const chunks = Math.ceil(job.keys.n / chunk);
    await sortInChunks(job, chunk, async (part) => {
      throwIfAborted(settings.signal);
      outcomes.push(await this.#execute(sortJob({ ...part, settings: { ...settings, verify: false } })));
      const done = Math.floor((job.keys.n * outcomes.length) / (2 * chunks)); // each is sorted and merged
      settings.onProgress?.({ phase: 'sort', done, total: job.keys.n });
    });
    const [first] = outcomes;
    if (!first) throw new UnsupportedError('a sort in chunks of nothing');
    // Chunks that were each verified would not prove the whole.
    const verified = settings.verify ? verifyOnHost(job) : undefined;
    if (verified && !(verified.order && verified.permutation)) {
      throw new MismatchError('the sort in chunks made a wrong result: please report this', {
        details: { verified },
      });
    }
    return {
      plan: first.plan,
      stages: outcomes.flatMap(({ stages }) => stages),
      chunks,
      ...(verified && { verified }),
    };
  }

  /** Hands a warning to whom a call names, else to whom the Sorter was opened with. */
  warn({ onWarning }: SortSettings, warning: ClsortError): void {
    (onWarning ?? this.#onWarning)(warning);
  }

  async #execute(job: SortJob): Promise<Outcome> {
    const { settings } = job;
    const warn = (warning: ClsortError) => this.warn(settings, warning);
    const request = requestOf(job);
    const { device } = this;
    const engine = this.#engine;
    const onHost = this.#hostReason(request);
    if (!device || !engine || onHost) {
      return this.#hostOutcome(job, hostPlan(request, onHost ?? 'no OpenCL device'));
    }
    let attempts = 0;
    const failures: string[] = [];
    for (const plan of engine.plans(request)) {
      if (attempts === DEVICE_ATTEMPTS) break;
      if (settings.algorithm === 'auto' && engine.distrusts(plan)) {
        failures.push(`${plan.algorithm} failed before`); // which was told then
        continue;
      }
      const algorithm = await prepare(engine, plan, settings, failures, warn);
      if (!algorithm) continue;
      attempts++;
      const outcome = await this.#attempt(device, engine, algorithm, plan, job);
      if (typeof outcome !== 'string') return outcome;
      failures.push(`${plan.algorithm} ${outcome}`);
      engine.distrust(plan);
      const message = `${plan.algorithm} on ${device.info.name} ${outcome}`;
      if (settings.onMismatch === 'throw') throw new MismatchError(`${message}: its result is not used`);
      warn(new MismatchError(`${message}; another way is tried`));
    }
    if (attempts === 0 && !failures.some((failure) => failure.endsWith('failed before'))) {
      throw new UnsupportedError(`no algorithm could be used on ${device.info.name}: ${failures.join('; ')}`);
    }
    warn(new MismatchError(`the host engine sorts, since on ${device.info.name}: ${failures.join('; ')}`));
    return this.#hostOutcome(job, hostPlan(request, failures.join('; ')));
  }

  /** Sorts on the host, and checks when asked to: the host engine is trusted no more than a device. */
  async #hostOutcome(job: SortJob, plan: Plan): Promise<Outcome> {
    const { settings } = job;
    const started = performance.now();
    const host = hostJob(job) ?? (await this.#download(job));
    await hostSortInTurns(host.keys, settings, host, settings.signal);
    const seconds = (performance.now() - started) / 1000;
    const verified = settings.verify ? verifyOnHost(host) : undefined;
    if (verified && !(verified.order && verified.permutation)) {
      throw new MismatchError('the host engine made a wrong result: please report this', {
        details: { verified },
      });
    }
    await this.#upload(job, host);
    return { plan, stages: [{ stage: 'host sort', seconds }], ...(verified && { verified }) };
  }

  /** Sorts by one plan. @returns the outcome, or in words why it must not be used */
  async #attempt(
    device: Device,
    engine: DeviceSort,
    algorithm: Algorithm,
    plan: Plan,
    job: SortJob,
  ): Promise<Outcome | string> {
    const { keys, settings, values, moved, sorted } = job;
    const verifier = settings.verify ? await engine.verifier(plan) : undefined;
    const { queue } = device;
    const profiled = settings.profile || settings.onReport !== undefined;
    if (profiled) queue.startProfile();
    const lent: { release(): void }[] = [];
    const keep = <L extends { release(): void }>(one: L): L => {
      lent.push(one);
      return one;
    };
    try {
      const input = keep(await lendInput(device, keys.place));
      const inputValues = values && keep(await lendInput(device, values.place));
      // The keys of an argsort are sorted too, but stay on the device.
      const output = keep(
        sorted
          ? lendOutput(device, sorted)
          : { ...borrow(device, byteLengthOf(keys)), collect: async () => undefined },
      );

      const outputValues = moved && keep(lendOutput(device, moved));
      const codec = keyCodec(keys.dtype, settings);
      const bits = await narrowedBits(engine, plan, { keys, input: input.buffer, codec, settings });
      const copies = [input, inputValues, output, outputValues].flatMap((one) =>
        one?.copy ? { buffer: one.buffer, copy: one.copy } : [],
      );
      const checksums = settings.verify && copies.length > 0 ? await engine.checksums() : undefined;
      const pending = keep(
        engine.enqueue(
          algorithm,
          plan,
          {
            input: input.buffer,
            output: output.buffer,
            ...(inputValues && { inputValues: inputValues.buffer }),
            ...(outputValues && { outputValues: outputValues.buffer }),
            codec,
            bits,
            indices: moved !== undefined && values === undefined,
            verify: settings.verify,
          },
          verifier,
        ),
      );
      const transferred = checksums?.watch(copies);
      await output.collect(settings.timeout);
      await outputValues?.collect(settings.timeout);
      await queue.finish(settings.timeout);
      const { gaveUp, verified } = pending.outcome();
      if (gaveUp) return gaveUp;
      if (verified && !verified.order) return 'left keys out of order';
      if (verified && !verified.permutation) return 'lost or changed elements';
      if (transferred && !(await transferred())) return 'does not hold the same data as the host';
      const done =
        bits === plan.bits ? plan : { ...plan, bits, reason: `${plan.reason}; other bits are constant` };
      return { plan: done, stages: profiled ? queue.endProfile() : [], ...(verified && { verified }) };
    } catch (error) {
      // Commands in flight may still write to host memory that the caller gets back; a device that hangs is given up.
      if (!(error instanceof TimeoutError)) await queue.finish(settings.timeout).catch(() => undefined);
      throw error;
    } finally {
      if (profiled) queue.endProfile(); // nothing is left to end after a success
      for (const one of lent) one.release();
    }
  }
  /** The same job on copies in host memory. */
  async #download({ keys, settings, sorted, values, moved }: SortJob): Promise<HostJob> {
    const copies: Copy[] = [];
    const fetch = (place: Place, bytes: number): Uint8Array => {
      if (!isOnDevice(place)) return bytesOf(place).subarray(0, bytes);
      const view = new Uint8Array(bytes);
      this.device?.queue.read(place, view);
      copies.push({ buffer: place, copy: view });
      return view;
    };
    const valueBytes = keys.n * (values?.bytes ?? 4);
    const job = {
      keys: { ...keys, view: keyWords(fetch(keys.place, byteLengthOf(keys)), keys.info) },
      settings,
      ...(sorted && { sorted: new Uint8Array(byteLengthOf(keys)) }),
      ...(values && { values: { view: fetch(values.place, valueBytes), bytes: values.bytes } }),
      ...(moved && { moved: new Uint8Array(valueBytes) }),
    };
    await this.#finishTransfers(settings, copies);
    return job;
  }

  /** Brings the results of a downloaded job to where they belong. */
  async #upload({ settings, sorted, moved }: SortJob, host: HostJob): Promise<void> {
    const copies: Copy[] = [];
    for (const [to, from] of [[sorted, host.sorted] as const, [moved, host.moved] as const]) {
      if (!to || !from || to === from) continue;
      if (isOnDevice(to)) {
        this.device?.queue.write(to, from);
        copies.push({ buffer: to, copy: from });
      } else bytesOf(to).set(bytesOf(from));
    }
    await this.#finishTransfers(settings, copies);
  }

  /** Waits for transfers, and compares their two sides when asked to. */
  async #finishTransfers({ verify, timeout }: SortSettings, copies: readonly Copy[]): Promise<void> {
    if (copies.length === 0) return;
    const same = verify ? (await this.checksums())?.watch(copies) : undefined;
    await this.device?.queue.finish(timeout);
    if (same && !(await same())) {
      throw new MismatchError('data changed on the way between the host and the device: it is not used');
    }
  }
}

const requestOf = ({ keys, settings, values, moved }: SortJob): PlanRequest => ({
  n: keys.n,
  dtype: keys.dtype,
  bits: bitWindow(settings.bits, keys.info),
  valueBytes: values?.bytes ?? (moved ? 4 : 0),
  algorithm: settings.algorithm,
  scan: settings.scan,
  radixBits: settings.radixBits,
});

/** The job as the host engine takes it; undefined when something of it is on the device. */
function hostJob({ keys, settings, sorted, values, moved }: SortJob): HostJob | undefined {
  if (isOnDevice(keys.place)) return undefined;
  if (values && isOnDevice(values.place)) return undefined;
  if (sorted && isOnDevice(sorted)) return undefined;
  if (moved && isOnDevice(moved)) return undefined;
  const bytes = bytesOf(keys.place).subarray(0, byteLengthOf(keys));
  return {
    keys: { ...keys, view: keyWords(bytes, keys.info) },
    settings,
    ...(sorted && { sorted }),
    ...(values && { values: { view: values.place as ArrayBufferView, bytes: values.bytes } }),
    ...(moved && { moved }),
  };
}

const sortJob = ({ keys, values, ...rest }: HostJob): SortJob => ({
  ...rest,
  keys: column(keys.dtype, keys.n, keys.view),
  ...(values && { values: { place: values.view, bytes: values.bytes } }),
});

/** In how many parts a job is sorted while its data are on the way; 1 for as a whole. */
function partsOf(device: Device, { keys, settings, sorted, values, moved }: HostJob): number {
  const { verify, tuning, algorithm } = settings;
  const { singleThreaded } = device.capabilities.quirks;
  // Each part would be verified, but not that the parts make the whole; positions would be those in a part.
  if (verify || !sorted || (moved && !values) || singleThreaded) return 1;
  const most = Math.min(MAX_RUNS, keys.n);
  if (tuning.parts !== undefined) return Math.min(tuning.parts, most);
  const bytes = keys.n * (keys.info.bytes + (values?.bytes ?? 0));
  const reached = [keys.view, sorted, values?.view, moved].every((one) => !one || device.reaches(one));
  return algorithm === 'auto' && reached && bytes >= STREAMED_BYTES ? most : 1;
}

const verifyOnHost = (job: HostJob): Verified => hostVerify(job.keys, job.settings, job);

function firstOf(plans: Iterable<Plan>): Plan {
  for (const plan of plans) return plan;
  throw new UnsupportedError('there is no plan');
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

/** The window that a plan of ours sorts on, constant digits left out; what was asked for is done as asked. */
async function narrowedBits(
  engine: DeviceSort,
  { bits, algorithm, shape }: Plan,
  { keys, input, codec, settings }: { keys: Column; input: Buffer; codec: KeyCodec; settings: SortSettings },
): Promise<Bits> {
  if (settings.algorithm !== 'auto' || !BY_DIGITS.has(algorithm)) return bits;
  const radixBits = Number(shape?.tuning?.radixBits ?? 8);
  return engine.survey.narrow(keys, input, { bits, codec, radixBits });
}

/** A device that is out of resources (-5) even for a few keys does not lack memory: it is lost. */
function keepsFailing(error: MemoryError): ClsortError {
  if (error.details.status !== -5) return error;
  return new DeviceLostError(`the device fails even for a few keys: ${error.message}`, { cause: error });
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
