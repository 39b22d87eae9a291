/**
 * A fake device in host memory for tests of calls. It needs no driver and compiles nothing. Its plans come from the real planner, for
 * a known device. Commands run in order when a call waits for them, so a command sees memory as earlier commands left it.
 */
import test from 'ava';
import type { BreakEvenCall } from '../../src/algorithms/tuning.js';
import { Buffer } from '../../src/device/memory/buffer.js';
import { concatenateArrays } from '../../src/device/memory/staging.js';
import type { DeviceInfo } from '../../src/device/platform/platform.js';
import { bytesOf, copyBytes, isResizable, newArray } from '../../src/keys/array.js';
import type { Dtype } from '../../src/keys/dtype.js';
import { SorterOperations } from '../../src/sort/api/sorter-operations.js';
import type { Backend, PendingSort, Session } from '../../src/sort/backend/backend.js';
import type { Columns, HostColumnAccess } from '../../src/sort/backend/columns.js';
import { HostBackend, sortOnHost } from '../../src/sort/backend/host-backend.js';
import { HostColumnKernels } from '../../src/sort/backend/host-column-kernels.js';
import { HostColumnVerifier } from '../../src/sort/backend/host-column-verifier.js';
import { Planner } from '../../src/sort/backend/planner.js';
import { byteLengthOf, type Column, column, isOnDevice, type Place } from '../../src/sort/model/column.js';
import type { HostJob, SortJob } from '../../src/sort/model/job.js';
import type { SortSettings } from '../../src/sort/model/options.js';
import { hostPlan, type Plan, type PlanRequest, requestOf, variantOf } from '../../src/sort/model/plan.js';
import type { Outcome } from '../../src/sort/model/report.js';
import { CONTAINS_BY_TABLE } from '../../src/sort/operations/sets/contains.js';
import type { MemoryUsage } from '../../src/sort/transfer/column-memory.js';
import { HostMemory } from '../../src/sort/transfer/host-memory.js';
import { type ClsortError, DeviceLostError } from '../../src/util/errors.js';
import type { MaybePromise } from '../../src/util/maybe-promise.js';
import { knownDevice, profileNamed } from '../device/profiles.js';

/** Fills unused device memory, so that a test notices a command that reads it. */
const POISON = 0xee;

/** Device memory, which the library cannot access as an array. */
class FakeBuffer extends Buffer {
  readonly view: Uint8Array;

  constructor(bytes: number) {
    super(bytes, undefined as never);
    this.view = new Uint8Array(bytes).fill(POISON);
  }
}

/** A copy of a value in which each device buffer is replaced by the host array behind it. */
function onHost<T>(value: T): T {
  if (value instanceof FakeBuffer) return value.view as T;
  if (Array.isArray(value)) return value.map(onHost) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, onHost(one)])) as T;
}

/** An in-order queue of commands. */
class FakeQueue {
  readonly #commands: (() => MaybePromise<unknown>)[] = [];
  #last: Promise<unknown> = Promise.resolve();
  /** Number of waits. */
  waits = 0;

  enqueue(command: () => MaybePromise<unknown>): void {
    this.#commands.push(command);
  }

  /** Runs all enqueued commands. @throws the error of the first command that fails */
  finish(): Promise<void> {
    this.waits++;
    const run = async (): Promise<void> => {
      for (const command of this.#commands.splice(0)) await command();
    };
    const done = this.#last.then(run);
    this.#last = done.catch(() => undefined);
    return done;
  }
}

/** Memory of the fake device. */
class FakeMemory extends HostMemory {
  readonly concatenateArrays = concatenateArrays;
  readonly #queue: FakeQueue;
  #used = 0;
  #peak = 0;

  constructor(queue: FakeQueue) {
    super();
    this.#queue = queue;
  }

  override take(dtype: Dtype, n: number): FakeBuffer {
    const buffer = new FakeBuffer(byteLengthOf({ dtype, n }));
    this.#used += buffer.bytes;
    this.#peak = Math.max(this.#peak, this.#used);
    return buffer;
  }

  override give(place: Place): void {
    const { view, bytes } = place as FakeBuffer;
    this.#used -= bytes;
    this.#queue.enqueue(() => view.fill(POISON));
  }

  override get usage(): MemoryUsage {
    return { used: this.#used, idle: 0, peak: this.#peak };
  }

  override async store(to: Column, view: ArrayBufferView, offset: number): Promise<void> {
    this.#queue.enqueue(() => super.store(onHost(to), view, offset));
    await this.#queue.finish();
  }

  override async load(from: Column, view: ArrayBufferView, offset: number): Promise<void> {
    if (isResizable(view)) throw new TypeError('a device was given memory that may shrink');
    this.#queue.enqueue(() => super.load(onHost(from), view, offset));
    await this.#queue.finish();
  }
}

/** The columns of one call. Host columns are copied to the device and back, as for a device with dedicated memory. */
class FakeColumns implements Columns {
  readonly kernels = this.#enqueuing(new HostColumnKernels(undefined));
  readonly verifier = this.#enqueuing(new HostColumnVerifier(undefined));
  readonly #backend: FakeBackend;
  readonly #settings: SortSettings;
  readonly #temporary: FakeBuffer[] = [];
  #failure: { readonly error: unknown } | undefined;

  constructor(backend: FakeBackend, settings: SortSettings) {
    this.#backend = backend;
    this.#settings = settings;
  }

  /**
   * Enqueues the methods of `target`. Each returns a function that returns the result after the wait. Selections that may
   * decline do so at once.
   */
  #enqueuing<T extends object>(target: T): T {
    const methodNamed = (name: string | symbol) => {
      const method = Reflect.get(target, name);
      return typeof method === 'function' ? method.bind(target) : undefined;
    };
    const get = (_: T, name: string | symbol) => {
      const method = methodNamed(name);
      const enqueue = (...args: unknown[]) => {
        if (name === 'selectSorted' || args[0] === CONTAINS_BY_TABLE) return false;
        let result: () => unknown = () => undefined;
        this.#enqueue(async () => {
          result = await method(...args.map(onHost));
        });
        const resultOf = () => result();
        return target instanceof HostColumnVerifier ? Promise.resolve(resultOf) : resultOf;
      };
      return method && enqueue;
    };
    return new Proxy(target, { get });
  }

  /** Enqueues a command of this call. Only this call rejects if the command fails. */
  #enqueue(command: () => MaybePromise<unknown>): void {
    this.#backend.queue.enqueue(async () => {
      try {
        await command();
      } catch (error) {
        this.#failure ??= { error };
      }
    });
  }

  temporary(dtype: Dtype, n: number): Column {
    const buffer = this.#backend.memory.take(dtype, n);
    this.#temporary.push(buffer);
    return column(dtype, n, buffer);
  }

  bindInput(from: Column): Column {
    if (isOnDevice(from.place)) return from;
    const onDevice = this.temporary(from.dtype, from.n);
    this.#copy(from, onDevice);
    return onDevice;
  }

  bindOutput(to: Column, write: (to: Column) => MaybePromise<void>): MaybePromise<void> {
    if (isOnDevice(to.place)) return write(to);
    const onDevice = this.temporary(to.dtype, to.n);
    const written = write(onDevice);
    const copy = () => this.#copy(onDevice, to);
    return written instanceof Promise ? written.then(copy) : copy();
  }

  async copy(from: Column, to: Column): Promise<void> {
    this.#copy(from, to);
  }

  #copy(from: Column, to: Column): void {
    const bytes = byteLengthOf(to);
    this.#enqueue(() =>
      copyBytes(
        bytesOf(onHost(from).place as ArrayBufferView, 0, bytes),
        onHost(to).place as ArrayBufferView,
      ),
    );
  }

  lacksDoubles(): boolean {
    return false;
  }

  async copyToHost(keys: Column): Promise<HostColumnAccess> {
    const hostCopy = column(keys.dtype, keys.n, newArray(keys.dtype, keys.n));
    this.#copy(keys, hostCopy);
    await this.finish();
    return {
      keys: hostCopy,
      kernels: new HostColumnKernels(undefined),
      verifier: new HostColumnVerifier(undefined),
    };
  }

  prefersSelect(n: number): boolean {
    return n > (this.#settings.tuning.select ?? Number.POSITIVE_INFINITY);
  }

  prefersShortSelect(): boolean {
    return false;
  }

  flush(): void {}

  async finish(): Promise<void> {
    await this.#backend.queue.finish();
    const failure = this.#failure;
    this.#failure = undefined;
    if (this.#backend.lost) throw new DeviceLostError('the fake device was lost');
    if (failure) throw failure.error;
  }

  async check(): Promise<void> {}

  release(): void {
    for (const buffer of this.#temporary.splice(0)) this.#backend.memory.give(buffer);
  }
}

/** How a sort goes wrong. */
export interface Fault {
  /** `Backend.sort` throws this. */
  readonly throws?: Error;
  /** The command of the sort throws this. */
  readonly fails?: Error;
  /** The result is garbage, and is refused for this reason. */
  readonly spoils?: string;
  /** The outcome is known only after this settles. */
  readonly until?: Promise<unknown>;
}

/** A fake device. It records its sorts, and fails as a test says. */
export class FakeBackend implements Backend {
  readonly queue = new FakeQueue();
  readonly memory = new FakeMemory(this.queue);
  readonly info: DeviceInfo;
  readonly hasDedicatedMemory = true;
  overlaps = false;
  lost = false;
  /** All sorts that were requested, in order. */
  readonly sorts: { readonly plan: Plan; readonly job: SortJob }[] = [];
  /** Compiled algorithms, in order. */
  readonly compiled: string[] = [];
  /** Errors of algorithms that do not compile. */
  readonly broken = new Map<string, ClsortError>();
  /** How the next sort goes wrong, if it does. */
  faultOf: (plan: Plan, job: SortJob) => Fault | undefined = () => undefined;
  readonly #planner: Planner;
  readonly #ready = new Set<string>();
  /** Whether an earlier process has tested all variants. */
  prepared = true;
  /** Compilations end only after this settles. */
  compiler: Promise<unknown> | undefined;

  constructor(device = knownDevice(profileNamed('a10'))) {
    this.info = device.info;
    this.#planner = new Planner(device);
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

  async prepare(plan: Plan): Promise<void> {
    if (this.isReady(plan)) return;
    this.compiled.push(plan.algorithm);
    if (this.compiler) await this.compiler;
    const error = this.broken.get(plan.algorithm);
    if (error) throw error;
    this.#ready.add(variantOf(plan));
  }

  /** Rounds of deferred tests: how each one ends. */
  readonly dueTests: (ClsortError | undefined)[] = [];

  async runDueTest(): Promise<boolean> {
    const error = this.dueTests.shift();
    if (error) throw error;
    return this.dueTests.length > 0;
  }

  /** Kinds of calls that ended in the background. */
  readonly made: string[] = [];

  hasMade(kind: string): boolean {
    return this.prepared || this.made.includes(kind);
  }

  recordMade(kind: string): void {
    this.made.push(kind);
  }

  wasPrepared(): boolean {
    return this.prepared;
  }

  isReady(plan: Plan): boolean {
    return plan.engine === 'host' || this.#ready.has(variantOf(plan));
  }

  async sort(plan: Plan, job: SortJob): Promise<PendingSort> {
    return this.sortNow(plan, job);
  }

  sortNow(plan: Plan, job: SortJob): PendingSort {
    this.sorts.push({ plan, job });
    const { throws, fails, spoils, until } = this.faultOf(plan, job) ?? {};
    if (throws) throw throws;
    let outcome: Outcome | undefined;
    let failure: { readonly error: unknown } | undefined;
    this.queue.enqueue(async () => {
      try {
        if (fails) throw fails;
        const hostCopy = onHost(job) as HostJob;
        const { verified } = await sortOnHost(hostPlan(requestOf(plan), plan.reason), hostCopy);
        if (spoils)
          for (const made of [hostCopy.sorted, hostCopy.moved]) if (made) bytesOf(made).fill(POISON);
        outcome = { plan, stages: [{ stage: 'fake sort', seconds: null }], ...(verified && { verified }) };
      } catch (error) {
        failure = { error };
      }
    });
    const outcomeOf = async (): Promise<Outcome | string> => {
      await until;
      if (failure) throw failure.error;
      return spoils ?? (outcome as Outcome);
    };
    return { outcome: outcomeOf, release: () => undefined };
  }

  columns(settings: SortSettings): Columns {
    return new FakeColumns(this, settings);
  }
}

/** Keeps a fake backend until a test loses it. */
export class FakeSession implements Session {
  backend: FakeBackend;
  readonly #giveUpListeners: (() => void)[] = [];

  constructor(backend = new FakeBackend()) {
    this.backend = backend;
  }

  /** Loses the device with its memory, and opens another one. */
  lose(): void {
    this.backend.lost = true;
    for (const callback of this.#giveUpListeners) callback();
    this.backend = new FakeBackend();
  }

  run<T>(use: (backend: Backend) => Promise<T>): Promise<T> {
    return use(this.backend);
  }

  complete<T>(_backend: Backend, use: () => Promise<T>): Promise<T> {
    return use();
  }

  readonly #dueTestListeners: (() => void)[] = [];

  /** Makes the tests due that the backend has. */
  makeTestsDue(): void {
    for (const callback of this.#dueTestListeners) callback();
  }

  onDueTest(callback: () => void): void {
    this.#dueTestListeners.push(callback);
  }

  onGiveUp(callback: () => void): void {
    this.#giveUpListeners.push(callback);
  }

  async close(): Promise<void> {}
}

/**
 * A Sorter of a fake device, with its session and its warnings.
 *
 * @param below break-even size below which the host sorts, or a function that returns it; omitted for a device that the user requested
 */
export function fakeSorter(below?: number | ((call: BreakEvenCall) => number)) {
  const session = new FakeSession();
  const warnings: ClsortError[] = [];
  const breakEvenHost =
    below === undefined
      ? undefined
      : {
          session: new HostBackend('the host is faster'),
          below: typeof below === 'number' ? () => below : below,
          whileCompiling: new HostBackend('the device compiles'),
        };
  const sorter = new SorterOperations(session, (warning) => warnings.push(warning), breakEvenHost);
  return { sorter, session, warnings };
}

/**
 * Declares the same tests for a Sorter of the host engine and one of a fake device.
 *
 * @param declare gets a function that prefixes titles with the engine, and one that returns the Sorter
 */
export function forEachFakeSorter(
  declare: (title: (claim: string) => string, open: () => Promise<SorterOperations>) => void,
): void {
  const host = new SorterOperations(new HostBackend(), () => undefined);
  for (const [name, sorter] of Object.entries({ host, fake: fakeSorter().sorter })) {
    test.after.always(`${name} closes`, () => sorter.close());
    declare(
      (claim) => `${name}: ${claim}`,
      async () => sorter,
    );
  }
}
