import type { BreakEvenCall } from '../../algorithms/tuning.js';
import { type ClsortError, MemoryError } from '../../util/errors.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import type { Backend, Session } from '../backend/backend.js';
import { HostBackend } from '../backend/host-backend.js';
import { byteLengthOf, lostArrayError } from '../model/column.js';
import { type HostJob, isHostJob, requestOf, type SortJob, valueBytesOf } from '../model/job.js';
import { needsDevice, type SortSettings } from '../model/options.js';
import type { Plan } from '../model/plan.js';
import type { ExecutionBody } from './call.js';
import { callChannel, currentRecord } from './call-channel.js';
import { type CallScheduler, Dependency, Execution, failedInputError, isPromise } from './call-scheduler.js';
import { DueTests } from './due-tests.js';
import { MAX_BYTES_WHILE_COMPILING } from './policy.js';
import { BackgroundCompiler, SortBatcher } from './sort-batcher.js';

/** Session of the host engine, for host arrays that it processes faster than the device. */
export interface BreakEvenHost {
  readonly session: Session;
  /** Returns the number of elements below which the host engine is faster. */
  readonly below: (call: BreakEvenCall) => number;
  /** Session of the host engine for calls whose programs the device has not compiled yet. */
  readonly whileCompiling: Session;
}

/** Several devices that sort host arrays together; uses as many of them as is fastest. */
export interface MultiDeviceSorter {
  /** Returns the job to share if it is worth sharing and all in host memory; undefined if one device sorts it. */
  sharedJob(job: SortJob): HostJob | undefined;
  sort(job: HostJob): Promise<void>;
}

/** Properties of a call that decide which session runs it, and when. */
export interface Task extends BreakEvenCall {
  readonly n: number;
  readonly settings: SortSettings;
  /** Links the call to the calls whose results it takes, and to those that take its result. */
  readonly dependency: Dependency;
  /** Whether all keys and results are in host memory. */
  readonly onHost: boolean;
  /** Whether the call may be repeated after its device was lost. */
  again: boolean;
  /** Whether the call writes to an array of the caller. */
  readonly overwrites?: boolean;
  /** Whether devices cannot run the call, so that the host engine does unless a device was requested. */
  readonly needsHost?: boolean;
  /** Runs the call on several devices, each through its own session. */
  shared?: (() => Promise<unknown>) | undefined;
  /** The job and the caller's result, for a call that is a single sort. */
  sort?: { readonly job: SortJob; readonly made: unknown };
}

/**
 * Whether the next call may begin before this one is done. Not with a timeout or a report, which would
 * include the other call. Not with overwritten arrays either, which an earlier call may have to read again.
 */
const canOverlap = ({ settings, overwrites = false }: Task): boolean =>
  !overwrites && settings.timeout === undefined && settings.onReport === undefined;

/** The calls of a Sorter: selects the session of each call, orders them and tracks their dependencies. */
export class Calls {
  readonly #session: Session;
  /** Session for small host arrays, unless a device was requested. */
  readonly #breakEvenHost: BreakEvenHost | undefined;
  readonly #scheduler: CallScheduler;
  readonly #multiDevice: MultiDeviceSorter | undefined;
  readonly #batcher: SortBatcher;
  readonly #compiler: BackgroundCompiler;
  readonly #onWarning: (warning: ClsortError) => void;
  /** Whether the host engine runs the call that is being made, which the device would run otherwise. */
  #isForHost: (() => boolean) | undefined;
  /** Whether the call that is being made runs on the device in the background. */
  #inBackground = false;
  /** State of calls, by the promises that they returned. */
  readonly #dependencies = new WeakMap<PromiseLike<unknown>, Dependency>();

  /**
   * @param breakEvenHost session for small host arrays, unless a device was requested
   * @param onWarning receives warnings of calls that have no `onWarning`
   * @param multiDevice shares large sorts; omitted with one device
   */
  constructor(
    session: Session,
    breakEvenHost: BreakEvenHost | undefined,
    scheduler: CallScheduler,
    onWarning: (warning: ClsortError) => void,
    multiDevice?: MultiDeviceSorter,
  ) {
    this.#multiDevice = multiDevice;
    this.#session = session;
    this.#breakEvenHost = breakEvenHost;
    this.#scheduler = scheduler;
    new DueTests(session, scheduler, onWarning);
    this.#compiler = new BackgroundCompiler(session, scheduler);
    this.#batcher = new SortBatcher(session, this.#compiler, onWarning);
    this.#onWarning = onWarning;
  }

  /**
   * Runs a call that is a single sort.
   *
   * @param made the result of the caller
   * @param into the array that the call overwrites, if any
   * @returns `made`
   */
  sort<T>(job: SortJob, dependency: Dependency, made: T, into?: unknown): Promise<T> {
    const { keys, settings } = job;
    const onHost = isHostJob(job);
    const group = this.#multiDevice;
    const shared = group?.sharedJob(job);
    return this.execute(
      {
        operation: job.moved ? (job.values ? 'sortPairs' : 'argsort') : 'sort',
        keyBits: keys.info.width,
        n: keys.n,
        settings,
        dependency,
        onHost,
        again: onHost,
        overwrites: into !== undefined,
        ...(shared && { shared: () => group?.sort(shared).then(() => made) as Promise<T> }),
        sort: { job, made },
      },
      (call) => {
        const result = () => made;
        return call.sort(job)?.then(() => result) ?? result;
      },
    );
  }

  /**
   * Runs a call on arrays or on promises of arrays. It does not wait for a promise of another call whose result is
   * already known.
   *
   * @param execute receives the dependency that resolves inputs to arrays; must not wait before it has made its call
   */
  runWithInputs<T>(
    inputs: readonly unknown[],
    execute: (dependency: Dependency) => MaybePromise<T>,
  ): Promise<T> {
    const dependency = new Dependency();
    const unresolved: PromiseLike<unknown>[] = [];
    for (const input of inputs) {
      if (!isPromise(input)) continue;
      input.then(undefined, () => undefined); // this call reports the failure
      const source = this.#dependencies.get(input);
      if (source?.result && !source.failure) dependency.addInput(input, source);
      else unresolved.push(input);
    }
    const result = executeAfterInputs(unresolved, dependency, execute);
    if (unresolved.length > 0 || dependency.result) this.#dependencies.set(result, dependency);
    return result;
  }

  /**
   * Makes a call on host arrays that may be the first of its kind.
   *
   * @param isForHost asked if the device would run the call: whether the host engine does
   * @param make must make its call before it waits
   */
  runFirst<T>(isForHost: () => boolean, make: () => T): T {
    this.#isForHost = isForHost;
    try {
      return make();
    } finally {
      this.#isForHost = undefined;
    }
  }

  /**
   * Makes a call on host arrays that runs on the device beside all others, without warnings. `close` does not wait for it.
   *
   * @param make must make its call before it waits
   */
  async runInBackground(make: () => unknown): Promise<unknown> {
    this.#inBackground = true;
    let made: unknown;
    try {
      made = make();
    } finally {
      this.#inBackground = false;
    }
    return made;
  }

  /** Lets a promise stand for that of a call where it is an input of another call. */
  alias(promise: PromiseLike<unknown>, call: PromiseLike<unknown>): void {
    const dependency = this.#dependencies.get(call);
    if (dependency) this.#dependencies.set(promise, dependency);
  }

  /** Runs a call when it is its turn, and waits for it. */
  execute<T>(task: Task, body: ExecutionBody<T>): Promise<T> {
    const { n, dependency, onHost } = task;
    const session = this.sessionFor(task);
    const { backend } = session;
    const record = callChannel.hasSubscribers ? currentRecord() : undefined;
    if (record) record.n += n;
    let execution: Promise<T>;
    if (this.#inBackground) {
      const context = { settings: task.settings, onWarning: () => undefined };
      const run = () => session.run((own) => Execution.run({ ...context, backend: own }, body), task);
      execution = this.#scheduler.runInBackground(run);
    } else if (!onHost && canOverlap(task)) {
      execution = this.#runInOrder(task, body, session, backend);
    } else if (session === this.#breakEvenHost?.whileCompiling) {
      // A call that excludes others would wait for the compiler.
      execution = this.#scheduler.runConcurrently(n, () => this.#run(task, body, session, backend));
    } else if (onHost && backend.overlaps && canOverlap(task)) {
      // The first of several calls starts at once, so that awaiting each call adds no latency.
      const batched = this.#scheduler.isIdle ? undefined : task.sort;
      execution = this.#scheduler.runConcurrently(n, () => this.#run(task, body, session, backend, batched));
    } else {
      execution = this.#scheduler.runExclusive(() => this.#run(task, body, session, backend));
    }
    dependency.done = execution;
    return execution;
  }

  /**
   * Runs a call on device arrays; the next call may begin before it is done.
   *
   * @param backend backend of the arrays
   */
  #runInOrder<T>(task: Task, body: ExecutionBody<T>, session: Session, backend: Backend): Promise<T> {
    const { dependency, settings } = task;
    const context = { settings, onWarning: this.#onWarning, backend };
    const onFailure = (error: unknown) => void dependency.recordFailure(error);
    const execution = new Execution(context, body, { releasesEarly: true, onFailure });
    const watched = <R>(half: () => Promise<R>) => session.complete(backend, half, task);
    const enqueue = () => {
      try {
        dependency.assertInputs();
        assertSameBackend(session, backend);
      } catch (error) {
        throw dependency.recordFailure(error);
      }
      const enqueued = execution.enqueue();
      dependency.markEnqueued(execution);
      return enqueued && watched(() => enqueued);
    };
    const inputs = () => dependency.waitForInputs();
    return this.#scheduler.runInOrder(enqueue, () =>
      watched(() => execution.complete(dependency.hasInputs ? inputs : undefined)),
    );
  }

  /**
   * Runs a call to its end, if it uses host memory or excludes others.
   *
   * @param batched the job of the call, to run together with similar ones
   */
  async #run<T>(
    task: Task,
    body: ExecutionBody<T>,
    session: Session,
    expected: Backend,
    batched?: Task['sort'],
  ): Promise<T> {
    const { dependency, settings, onHost } = task;
    const context = { settings, onWarning: this.#onWarning };
    const alone = () => session.run((backend) => Execution.run({ ...context, backend }, body), task);
    try {
      dependency.assertInputs();
      if (!onHost) assertSameBackend(session, expected);
      if (task.shared) return (await task.shared()) as T;
      return await ((batched && this.#batcher.join(batched.job, batched.made as T, alone)) ?? alone());
    } catch (error) {
      const isOnFallback = !this.#breakEvenHost || session !== this.#session;
      if (!(error instanceof MemoryError) || !task.again || task.shared || isOnFallback) {
        throw dependency.recordFailure(error);
      }
      return this.#retryOnHost(error, task, body);
    }
  }

  /** Runs a call on the host engine after the device ran out of memory, unless a device was requested. */
  async #retryOnHost<T>(
    cause: MemoryError,
    { settings, dependency }: Task,
    body: ExecutionBody<T>,
  ): Promise<T> {
    const warn = settings.onWarning ?? this.#onWarning;
    warn(new MemoryError(`${cause.message}; falling back to the host`, { cause }));
    this.#session.backend.memory.trim();
    const backend = new HostBackend('out of device memory');
    const context = { backend, settings: { ...settings, algorithm: 'auto' as const } };
    try {
      return await Execution.run({ ...context, onWarning: this.#onWarning }, body);
    } catch (error) {
      throw dependency.recordFailure(error);
    }
  }

  /**
   * Selects the session of a call of n keys: the host engine below the break-even size, or while the device compiles the
   * programs of the call; the device otherwise. Options that only devices support keep the call on the device.
   */
  sessionFor(
    task: BreakEvenCall & Pick<Task, 'n' | 'settings' | 'onHost' | 'sort' | 'overwrites' | 'needsHost'>,
  ): Session {
    const host = this.#breakEvenHost;
    if (!host || !task.onHost || needsDevice(task.settings) || this.#inBackground) return this.#session;
    if (task.needsHost || task.n < host.below(task)) return host.session;
    if (task.overwrites || task.settings.algorithm === 'host') return this.#session;
    const job = task.sort?.job;
    const isForHost = job ? this.#sortsBeforeCompiled(job) : this.#isForHost?.();
    return isForHost ? host.whileCompiling : this.#session;
  }

  /**
   * Whether the host engine sorts before the device has compiled the program of the plan, which it then does in the
   * background. After a failure the device plans the sort, and so reports the error.
   */
  #sortsBeforeCompiled(job: SortJob): boolean {
    const { backend } = this.#session;
    const bytes = byteLengthOf(job.keys) + valueBytesOf(job);
    if (backend.lost || bytes > MAX_BYTES_WHILE_COMPILING) return false;
    const plan = firstPlan(backend, job);
    if (!plan || backend.isReady(plan)) return false;
    const compiling = this.#compiler.isCompiling(backend, plan);
    if (compiling !== undefined) return compiling;
    if (backend.wasPrepared(plan)) return false;
    this.#compiler.prepare(backend, plan);
    return true;
  }
}

/** Returns the first plan of a sort; undefined if there is none, which the sort itself reports. */
function firstPlan(backend: Backend, job: SortJob): Plan | undefined {
  try {
    for (const plan of backend.plans(requestOf(job))) return plan;
  } catch {
    // The call throws the same error.
  }
  return undefined;
}

/**
 * Checks that the arrays of a call still exist.
 *
 * @throws DeviceLostError when their device was lost since the call was made
 */
function assertSameBackend(session: Session, expected: Backend): void {
  if (!expected.lost && expected === session.backend) return;
  throw lostArrayError('the arrays of this call');
}

/**
 * Runs a call when the promises of its inputs have resolved. It starts in the microtask of the last one,
 * before later code that awaits the same promise can dispose of the array.
 *
 * @throws InputError when one is rejected
 */
async function executeAfterInputs<T>(
  promises: readonly PromiseLike<unknown>[],
  dependency: Dependency,
  execute: (dependency: Dependency) => MaybePromise<T>,
): Promise<T> {
  try {
    for (const promise of promises) {
      try {
        dependency.addInput(promise, await promise);
      } catch (error) {
        throw failedInputError(error);
      }
    }
    return await execute(dependency);
  } finally {
    dependency.release();
  }
}
