import type { Algorithm, AlgorithmShape } from '../../algorithms/algorithm.js';
import { algorithmNamed } from '../../algorithms/registry.js';
import { Device, type DeviceOptions } from '../../device/device.js';
import type { DeviceInfo } from '../../device/platform/platform.js';
import { takeCacheWarning } from '../../util/cache.js';
import {
  type ClsortError,
  DeviceLostError,
  MismatchError,
  TimeoutError,
  UnsupportedError,
  UsageError,
} from '../../util/errors.js';
import {
  readSelfTestRecord,
  type SelfTestKey,
  type SelfTestRecord,
  storeSelfTestRecord,
} from '../../util/self-test-records.js';
import type { SortJob } from '../model/job.js';
import type { SortSettings } from '../model/options.js';
import { type Plan, type PlanRequest, requestOf, variantOf } from '../model/plan.js';
import { CheckedTransfers } from '../transfer/checked-transfers.js';
import { type ColumnMemory, DeviceMemory } from '../transfer/column-memory.js';
import { Checksums } from '../verification/checksum.js';
import { hasSelfTestRecord, selfTest, stressTest } from '../verification/self-test.js';
import { CaseData } from '../verification/self-test-cases.js';
import { Verifier } from '../verification/verify.js';
import type { Backend, PendingSort, Session, SessionCall } from './backend.js';
import type { Columns } from './columns.js';
import { DeviceColumnKernels } from './device-column-kernels.js';
import { DeviceColumns } from './device-columns.js';
import { DeviceSort } from './device-sort.js';
import { openDevice } from './first-build.js';
import { Planner } from './planner.js';
import { DEFERS_STRESS } from './policy.js';
import { sortCopiesOnHost } from './sort-copies-on-host.js';

/** Transfers of calls without verification: nothing is recorded. */
const UNCHECKED = new CheckedTransfers();

/** Runs plans on one device and caches what is compiled for it. */
export class DeviceBackend implements Backend {
  readonly device: Device;
  lost = false;
  readonly memory: ColumnMemory;
  readonly #planner: Planner;
  readonly #kernels: DeviceColumnKernels;
  readonly #algorithms = new Map<string, Promise<{ algorithm: Algorithm; record: SelfTestRecord }>>();
  /** Variants that are compiled and self-tested, and plans that can run as they are. */
  readonly #selfTested = new Map<string, Algorithm>();
  #ready = new WeakMap<Plan, Algorithm>();
  /** Stress tests of variants in use that have not ended. */
  readonly #dueTests = new Map<string, AsyncGenerator<void, SelfTestRecord>>();
  readonly #dueTestListeners: readonly (() => void)[];
  readonly #verifiers = new Map<string, Promise<Verifier>>();
  readonly #checksums = new Map<string, Promise<Checksums>>();

  /** @param dueTestListeners called when a test becomes due; if there are none, no tests are deferred */
  constructor(device: Device, dueTestListeners: readonly (() => void)[] = []) {
    this.device = device;
    this.#dueTestListeners = dueTestListeners;
    this.memory = new DeviceMemory(device);
    this.#kernels = new DeviceColumnKernels(device);
    this.#planner = new Planner(device);
  }

  get info(): DeviceInfo {
    return this.device.info;
  }

  get hasDedicatedMemory(): boolean {
    return this.device.hasDedicatedMemory;
  }

  get overlaps(): boolean {
    return this.device.overlaps;
  }

  /** Releases the device without waiting, after a failure. */
  async abandon(): Promise<void> {
    this.lost = true;
    await this.device.abandon();
  }

  plans(request: PlanRequest): Iterable<Plan> {
    return this.#planner.plans(request);
  }

  chunkLimit(request: PlanRequest): number {
    return this.#planner.chunkLimit(request);
  }

  trusts(plan: Plan): boolean {
    return this.#planner.trusts(plan);
  }

  distrust(plan: Plan): void {
    this.#planner.distrust(plan);
  }

  async prepare(plan: Plan, verified?: { readonly bySegments: boolean }): Promise<void> {
    if (plan.engine !== 'device') return;
    const verifiers = verified && [this.#verifier(plan, verified.bySegments), this.#checksumsOf()];
    const compiled = Promise.allSettled(verifiers ?? []); // an error recurs in the sort
    await this.#algorithm(plan);
    await compiled;
  }

  isReady(plan: Plan): boolean {
    if (plan.engine !== 'device' || this.#ready.has(plan)) return true;
    const algorithm = this.#selfTested.get(variantOf(plan));
    if (algorithm?.supports(requestOf(plan)) !== true) return false;
    this.#ready.set(plan, algorithm);
    return true;
  }

  wasPrepared({ algorithm, shape }: Plan): boolean {
    return shape === undefined || hasSelfTestRecord(this.info, algorithm, shape);
  }

  hasMade(kind: string): boolean {
    return readSelfTestRecord(this.#callKey(kind)) !== undefined;
  }

  recordMade(kind: string): void {
    storeSelfTestRecord(this.#callKey(kind), undefined);
  }

  #callKey(kind: string): SelfTestKey {
    const { platform, name, driver } = this.info;
    return [platform, name, driver, 'call', kind];
  }

  async runDueTest(): Promise<boolean> {
    for (const [variant, rounds] of this.#dueTests) {
      this.#dueTests.delete(variant); // it is due in the next process if it fails otherwise
      const { done, value: record } = await rounds.next();
      if (!done) this.#dueTests.set(variant, rounds);
      else if (!record.ok) throw this.#reject(variant, record);
      break;
    }
    return this.#dueTests.size > 0;
  }

  /** Excludes a variant that has failed a test while in use. @returns the error for the caller */
  #reject(variant: string, record: SelfTestRecord): MismatchError {
    const algorithm = this.#selfTested.get(variant);
    this.#selfTested.delete(variant);
    this.#ready = new WeakMap();
    if (algorithm) this.#algorithms.set(variant, Promise.resolve({ algorithm, record }));
    return new MismatchError(
      `cannot use algorithm '${algorithm?.name}' on ${this.info.name} again: it failed its stress test (${record.reason}). ` +
        'Repeat the sorts of this process with verify: true',
      { details: { selfTestRecord: record } },
    );
  }

  columns(settings: SortSettings): Columns {
    return new DeviceColumns(this.device, settings, this.#transfersOf(settings), this.#kernels);
  }

  sortNow(plan: Plan, job: SortJob): PendingSort | undefined {
    const algorithm = job.settings.verify ? undefined : this.#ready.get(plan);
    const resources = algorithm && { algorithm, verifier: undefined, transfers: UNCHECKED };
    return resources && DeviceSort.enqueueNow(this.device, plan, job, resources);
  }

  async sort(plan: Plan, job: SortJob): Promise<PendingSort> {
    if (plan.engine === 'host') {
      return sortCopiesOnHost(this.device, plan, job, this.#transfersOf(job.settings));
    }
    const { settings, segments } = job;
    const algorithm = this.#ready.get(plan) ?? (await this.#algorithm(plan));
    const verifier = settings.verify ? await this.#verifier(plan, segments !== undefined) : undefined;
    const transfers = this.#transfersOf(settings);
    if (settings.verify) await transfers.prepare();
    return DeviceSort.enqueue(this.device, plan, job, { algorithm, verifier, transfers });
  }

  /** @throws the errors of `prepare` */
  async #algorithm(plan: Plan): Promise<Algorithm> {
    const { shape, algorithm: name } = plan;
    if (!shape)
      throw new UnsupportedError(`cannot run the plan on a device: it is for the ${plan.engine} engine`);
    const { algorithm, record } = await memoized(this.#algorithms, variantOf(plan), async () => {
      const made = await this.#selfTestedAlgorithm(name, shape);
      if (made.record.stressIsDue) {
        this.#dueTests.set(variantOf(plan), stressTest(made.algorithm));
        for (const notify of this.#dueTestListeners) notify();
      }
      return made;
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

  /** Compiles a variant, and tests it unless that was done before. The data of the test are prepared meanwhile. */
  async #selfTestedAlgorithm(
    name: string,
    shape: AlgorithmShape,
  ): Promise<{ algorithm: Algorithm; record: SelfTestRecord }> {
    const defersStress = DEFERS_STRESS && this.#dueTestListeners.length > 0;
    const isTested = hasSelfTestRecord(this.info, name, shape);
    const data = isTested ? new CaseData(shape) : CaseData.ahead(name, shape, defersStress);
    try {
      const algorithm = await algorithmNamed(name).create(this.device, shape);
      if (this.device.closed) throw new UsageError('cannot test a variant: its device is closed');
      return { algorithm, record: await selfTest(algorithm, { defersStress, data }) };
    } finally {
      data.clear();
    }
  }

  /** @throws BuildError when the kernels do not compile */
  #verifier({ shape, valueBytes }: Plan, bySegments: boolean): Promise<Verifier> {
    const keyBits = shape?.keyBits ?? 32;
    return memoized(this.#verifiers, `${keyBits} ${valueBytes} ${bySegments}`, () =>
      Verifier.create(this.device, { keyBits, valueBytes, bySegments }),
    );
  }

  #transfersOf({ verify }: SortSettings): CheckedTransfers {
    if (!verify) return UNCHECKED;
    return new CheckedTransfers(() => this.#checksumsOf());
  }

  #checksumsOf(): Promise<Checksums> {
    return memoized(this.#checksums, '', () => Checksums.create(this.device));
  }
}

/**
 * Keeps a device open across failures. A device that fails in a call, or that exceeds a deadline, is
 * abandoned and reopened for later calls. Repeating a call is reported as a warning.
 */
export class DeviceSession implements Session {
  #backend: DeviceBackend;
  #opening: Promise<void> | undefined;
  /** Whether the session is closed: a device that fails then is not opened again. */
  #closing = false;
  readonly #dueTestListeners: (() => void)[] = [];
  readonly #giveUpListeners: (() => void)[] = [];
  readonly #options: DeviceOptions;
  readonly #onWarning: (warning: ClsortError) => void;

  private constructor(device: Device, options: DeviceOptions, onWarning: (warning: ClsortError) => void) {
    this.#backend = new DeviceBackend(device, this.#dueTestListeners);
    this.#options = options;
    this.#onWarning = onWarning;
  }

  /**
   * Opens a device.
   *
   * @throws NoLoaderError when there is no OpenCL loader
   * @throws NoPlatformError when there is no OpenCL platform
   * @throws NoDeviceError when no device matches `spec`
   * @throws UnsupportedError when the first build of the driver failed
   */
  static async open(
    spec: string,
    options: DeviceOptions,
    onWarning: (warning: ClsortError) => void,
  ): Promise<DeviceSession> {
    return new DeviceSession(await openDevice(spec, options), options, onWarning);
  }

  get device(): Device {
    return this.#backend.device;
  }

  /** Replaced by a new object when the device is reopened. */
  get backend(): Backend {
    return this.#backend;
  }

  onDueTest(callback: () => void): void {
    this.#dueTestListeners.push(callback);
  }

  onGiveUp(callback: () => void): void {
    this.#giveUpListeners.push(callback);
  }

  async run<T>(use: (backend: Backend) => Promise<T>, call: SessionCall): Promise<T> {
    if (this.#backend.lost) await this.#reopen();
    const backend = this.#backend;
    try {
      return await this.complete(backend, () => use(backend), call);
    } catch (error) {
      if (!call.again || this.#closing || !(error instanceof DeviceLostError)) throw error;
      const message = `${error.message}; reopening the device and repeating the call`;
      this.#warn(new DeviceLostError(message, { cause: error }), call);
      if (this.#backend.lost) await this.#reopen();
      return this.complete(this.#backend, () => use(this.#backend), call);
    }
  }

  /** Runs `use` and reports a cache warning afterwards. */
  async complete<T>(backend: Backend, use: () => Promise<T>, call: SessionCall): Promise<T> {
    try {
      const made = await use();
      this.#reportCacheWarning(call);
      return made;
    } catch (error) {
      this.#reportCacheWarning(call);
      await this.#giveUpFor(error, backend);
      throw error;
    }
  }

  #reportCacheWarning(call: SessionCall): void {
    const warning = takeCacheWarning();
    if (warning) this.#warn(warning, call);
  }

  #warn(warning: ClsortError, { settings }: SessionCall): void {
    (settings?.onWarning ?? this.#onWarning)(warning);
  }

  close(): Promise<void> {
    this.#closing = true;
    return this.#backend.device.close();
  }

  /** Abandons the device if the error means that it cannot be trusted; once for all calls in flight. */
  async #giveUpFor(error: unknown, backend: Backend): Promise<void> {
    if (!(error instanceof DeviceLostError || error instanceof TimeoutError)) return;
    if (this.#closing || backend !== this.#backend || backend.lost) return;
    for (const notify of this.#giveUpListeners) notify();
    await this.#backend.abandon();
    await this.#reopen().catch(() => undefined); // the next call retries and reports the error
  }

  #reopen(): Promise<void> {
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #open(): Promise<void> {
    const { closed, info, staging } = this.#backend.device;
    if (!closed) return;
    try {
      const device = await Device.open(info.id, this.#options);
      device.staging.adoptOrphans(staging);
      this.#backend = new DeviceBackend(device, this.#dueTestListeners);
    } catch (cause) {
      const message = `cannot reopen ${info.name} after a failure: ${(cause as Error).message}`;
      throw new DeviceLostError(message, { cause });
    }
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
