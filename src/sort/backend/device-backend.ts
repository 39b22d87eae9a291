import type { Algorithm } from '../../algorithms/algorithm.js';
import { algorithmNamed } from '../../algorithms/registry.js';
import type { Device } from '../../device/device.js';
import type { DeviceInfo } from '../../device/platform/platform.js';
import { byteRange, copyBytes, keyWords, newBytes } from '../../keys/array.js';
import { MismatchError, UnsupportedError } from '../../util/errors.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import type { SelfTestRecord } from '../../util/self-test-records.js';
import { byteLengthOf, type Column, isOnDevice, type Place } from '../model/column.js';
import { type HostJob, hostJob, type SortJob, valueBytesOf } from '../model/job.js';
import type { SortSettings } from '../model/options.js';
import { hostPlan, hostPlans, type Plan, type PlanRequest, requestOf, variantOf } from '../model/plan.js';
import type { Outcome } from '../model/report.js';
import { CheckedTransfers } from '../transfer/checked-transfers.js';
import { type ColumnMemory, DeviceMemory } from '../transfer/column-memory.js';
import { MAX_RUNS, RunCutter } from '../transfer/run-cutter.js';
import { sortStreamed } from '../transfer/sort-streamed.js';
import { Checksums, type CopiedBuffer } from '../verification/checksum.js';
import { selfTest } from '../verification/self-test.js';
import { Verifier } from '../verification/verify.js';
import type { Backend, PendingSort } from './backend.js';
import type { Columns } from './columns.js';
import { DeviceColumnKernels } from './device-column-kernels.js';
import { DeviceColumns } from './device-columns.js';
import { DeviceSort } from './device-sort.js';
import { completedSort, sortOnHost } from './host-backend.js';
import { KeyRangeProbe } from './key-range-probe.js';
import { PlanCache } from './plan-cache.js';
import { chunkLimit } from './planner.js';
import { VariantTrust } from './variant-trust.js';

/**
 * Smallest sort in bytes that runs in parts: smaller ones arrive too soon for the second sort of each part to
 * pay. Measured on an H200 with u32 keys in pinned memory, as a whole and in 8 parts: 2^26 keys 11.6 and 11.7
 * ms, 2^27 22.3 and 21.5, 2^28 44.0 and 41.5, of which 38.7 are transfers. Through staging memory, parts are
 * slower.
 */
const MIN_STREAMED_BYTES = 2 ** 29;

/** Transfers of calls without verification: nothing is recorded. */
const UNCHECKED = new CheckedTransfers();

/** Runs plans on one device and caches what is compiled for it. */
export class DeviceBackend implements Backend {
  readonly device: Device;
  readonly memory: ColumnMemory;
  readonly #plans: PlanCache;
  readonly #probe: KeyRangeProbe;
  readonly #kernels: DeviceColumnKernels;
  readonly #trust = new VariantTrust();
  readonly #algorithms = new Map<string, Promise<{ algorithm: Algorithm; record: SelfTestRecord }>>();
  /** Variants that are compiled and self-tested, and plans that can run as they are. */
  readonly #selfTested = new Map<string, Algorithm>();
  readonly #ready = new WeakMap<Plan, Algorithm>();
  readonly #verifiers = new Map<string, Promise<Verifier>>();
  readonly #cutters = new Map<string, Promise<RunCutter>>();
  readonly #checksums = new Map<string, Promise<Checksums>>();

  constructor(device: Device) {
    this.device = device;
    this.memory = new DeviceMemory(device);
    this.#probe = new KeyRangeProbe(device);
    this.#kernels = new DeviceColumnKernels(device);
    this.#plans = new PlanCache(device);
  }

  get info(): DeviceInfo {
    return this.device.info;
  }

  get hasDedicatedMemory(): boolean {
    return this.device.hasDedicatedMemory;
  }

  get lost(): boolean {
    return this.device.closed;
  }

  get overlaps(): boolean {
    return this.device.overlaps;
  }

  plans(request: PlanRequest): Iterable<Plan> {
    if (request.n === 0) return [hostPlan(request, 'nothing to sort')];
    if (request.algorithm === 'host') return hostPlans(request, 'asked for');
    return this.#plans.plansFor(request);
  }

  chunkLimit(request: PlanRequest): number {
    if (request.algorithm === 'host') return Number.POSITIVE_INFINITY;
    return chunkLimit(this.device.capabilities, request);
  }

  trusts(plan: Plan): boolean {
    return this.#trust.trusts(plan);
  }

  distrust(plan: Plan): void {
    this.#trust.distrust(plan);
  }

  async prepare(plan: Plan): Promise<void> {
    if (plan.engine === 'device') await this.#algorithm(plan);
  }

  isReady(plan: Plan): boolean {
    if (plan.engine !== 'device' || this.#ready.has(plan)) return true;
    const algorithm = this.#selfTested.get(variantOf(plan));
    if (algorithm?.supports(requestOf(plan)) !== true) return false;
    this.#ready.set(plan, algorithm);
    return true;
  }

  columns(settings: SortSettings): Columns {
    return new DeviceColumns(this.device, settings, this.#transfersOf(settings), this.#kernels);
  }

  sort(plan: Plan, job: SortJob): MaybePromise<PendingSort> {
    if (plan.engine === 'host') return this.#sortOnHost(plan, job);
    const algorithm = job.settings.verify ? undefined : this.#ready.get(plan);
    if (!algorithm) return this.#sortPrepared(plan, job);
    const resources = { algorithm, verifier: undefined, transfers: UNCHECKED, probe: this.#probe };
    return DeviceSort.enqueue(this.device, plan, job, resources);
  }

  /** Compiles the programs of a sort and of its verification, and enqueues the sort. */
  async #sortPrepared(plan: Plan, job: SortJob): Promise<PendingSort> {
    const { settings, segments } = job;
    const algorithm = await this.#algorithm(plan);
    const verifier = settings.verify ? await this.#verifier(plan, segments !== undefined) : undefined;
    const transfers = this.#transfersOf(settings);
    await transfers.prepare();
    return DeviceSort.enqueue(this.device, plan, job, {
      algorithm,
      verifier,
      transfers,
      probe: this.#probe,
    });
  }

  /** Sorts copies in host memory, and waits for the transfers in both directions. */
  async #sortOnHost(plan: Plan, job: SortJob): Promise<PendingSort> {
    const hostInput = hostJob(job);
    if (hostInput) return completedSort(await sortOnHost(plan, hostInput));
    const { keys, settings, sorted, values, moved, segments } = job;
    const { queue } = this.device;
    const downloads: CopiedBuffer[] = [];
    const download = (place: Place, bytes: number): ArrayBufferView => {
      if (!isOnDevice(place)) return byteRange(place, 0, bytes);
      const view = newBytes(bytes);
      queue.read(place, view);
      downloads.push({ buffer: place, copy: view });
      return view;
    };
    const downloadColumn = (from: Column) => ({ ...from, place: download(from.place, byteLengthOf(from)) });
    const valueBytes = valueBytesOf(job);
    const host: HostJob = {
      keys: { ...keys, view: keyWords(download(keys.place, byteLengthOf(keys)), keys.info) },
      settings,
      ...(sorted && { sorted: newBytes(byteLengthOf(keys)) }),
      ...(values && { values: { view: download(values.place, valueBytes), bytes: values.bytes } }),
      ...(moved && { moved: newBytes(valueBytes) }),
      ...(segments && { segments: { ...segments, offsets: downloadColumn(segments.offsets) } }),
    };
    await this.#finishTransfers(settings, downloads);
    const outcome = await sortOnHost(plan, host);
    const uploads: CopiedBuffer[] = [];
    for (const [to, from] of [[sorted, host.sorted] as const, [moved, host.moved] as const]) {
      if (!to || !from) continue;
      if (isOnDevice(to)) {
        queue.write(to, from);
        uploads.push({ buffer: to, copy: from });
      } else copyBytes(from, to);
    }
    await this.#finishTransfers(settings, uploads);
    return completedSort(outcome);
  }

  /**
   * Waits for transfers.
   *
   * @throws MismatchError when they are checked and differ
   */
  async #finishTransfers(settings: SortSettings, copies: readonly CopiedBuffer[]): Promise<void> {
    if (copies.length === 0) return;
    const transfers = this.#transfersOf(settings);
    await transfers.watch(copies);
    await this.device.queue.finish(settings.timeout);
    if (await transfers.same()) return;
    throw new MismatchError('cannot use the data: they changed in a transfer between host and device');
  }

  partCount({ keys, settings, sorted, values, moved }: HostJob): number {
    const { verify, tuning, algorithm } = settings;
    const { singleThreaded } = this.device.capabilities.quirks;
    // Verification would cover each part but not the whole. Positions would be relative to a part.
    if (verify || !sorted || (moved && !values) || singleThreaded || algorithm === 'host') return 1;
    const maxParts = Math.min(MAX_RUNS, keys.n);
    if (tuning.parts !== undefined) return Math.min(tuning.parts, maxParts);
    const bytes = keys.n * (keys.info.bytes + (values?.bytes ?? 0));
    if (algorithm !== 'auto' || bytes < MIN_STREAMED_BYTES) return 1;
    const areReachable = [keys.view, sorted, values?.view, moved].every(
      (one) => !one || this.device.isPinned(one),
    );
    return areReachable ? maxParts : 1;
  }

  async sortInParts(plan: Plan, job: HostJob): Promise<Outcome | undefined> {
    const { n } = job.keys;
    const algorithm = await this.#algorithm(plan);
    const cutter = await this.#cutter(plan);
    const { queue } = this.device;
    if (job.settings.onReport) queue.startProfile(job.settings.profile);
    try {
      const sorted = await sortStreamed({ device: this.device, algorithm, cutter, plan }, job);
      const stages = queue.endProfile();
      const reason = `${plan.reason}, in parts while the data are on the way`;
      return sorted ? { plan: { ...plan, n, reason }, stages, chunks: Math.ceil(n / plan.n) } : undefined;
    } finally {
      queue.endProfile();
    }
  }

  /** @throws the errors of `prepare` */
  async #algorithm(plan: Plan): Promise<Algorithm> {
    const { shape, algorithm: name } = plan;
    if (!shape)
      throw new UnsupportedError(`cannot run the plan on a device: it is for the ${plan.engine} engine`);
    const { algorithm, record } = await memoized(this.#algorithms, variantOf(plan), async () => {
      const made = await algorithmNamed(name).create(this.device, shape);
      return { algorithm: made, record: await selfTest(made) };
    });
    if (!record.ok) {
      throw new MismatchError(
        `cannot use algorithm '${name}' on ${this.info.name}: it failed its self-test (${record.reason})`,
        { details: { selfTestRecord: record } },
      );
    }
    this.#selfTested.set(variantOf(plan), algorithm);
    const supported = algorithm.supports(requestOf(plan));
    if (supported !== true) {
      throw new UnsupportedError(`cannot use algorithm '${name}' on ${this.info.name}: ${supported}`);
    }
    this.#ready.set(plan, algorithm);
    return algorithm;
  }

  /** @throws BuildError when the kernels do not compile */
  #verifier({ shape, valueBytes }: Plan, bySegments: boolean): Promise<Verifier> {
    const keyBits = shape?.keyBits ?? 32;
    return memoized(this.#verifiers, `${keyBits} ${valueBytes} ${bySegments}`, () =>
      Verifier.create(this.device, { keyBits, valueBytes, bySegments }),
    );
  }

  /** @throws BuildError when the kernels do not compile */
  #cutter({ shape, valueBytes }: Plan): Promise<RunCutter> {
    const keyBits = shape?.keyBits ?? 32;
    return memoized(this.#cutters, `${keyBits} ${valueBytes}`, () =>
      RunCutter.create(this.device, { keyBits, valueBytes }),
    );
  }

  #transfersOf({ verify }: SortSettings): CheckedTransfers {
    if (!verify) return UNCHECKED;
    return new CheckedTransfers(() => memoized(this.#checksums, '', () => Checksums.create(this.device)));
  }
}

/** Caches one promise per key; a rejected promise is removed. */
function memoized<T>(map: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  let promise = map.get(key);
  if (!promise) {
    promise = make();
    promise.catch(() => map.delete(key));
    map.set(key, promise);
  }
  return promise;
}
