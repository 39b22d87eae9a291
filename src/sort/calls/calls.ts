import { type ClsortError, MemoryError } from '../../util/errors.js';
import { chain, type MaybePromise, recover, toPromise } from '../../util/maybe-promise.js';
import type { Backend, Session } from '../backend/backend.js';
import { HostBackend } from '../backend/host-backend.js';
import { isOnDevice, lostArrayError } from '../model/column.js';
import type { HostJob, SortJob } from '../model/job.js';
import type { SortSettings } from '../model/options.js';
import { BackgroundCompiler } from './background-compiler.js';
import { type ExecutionBody, executeCall, type StartedCall, startCall } from './call.js';
import type { CallContext } from './call-context.js';
import type { CallScheduler, Completion } from './call-scheduler.js';
import { Dependency, failedInputError, isPromise } from './dependency.js';
import { SortBatcher } from './sort-batcher.js';

/** Session of the host engine, for host arrays of fewer keys than `below`. */
export interface BreakEvenHost {
  readonly session: Session;
  readonly below: number;
}

/** Several devices that sort host arrays together; uses as many of them as is fastest. */
export interface MultiDeviceSorter {
  /**
   * Returns the job to share if it is worth sharing and all in host memory; undefined if one device sorts it.
   */
  sharedJob(job: SortJob): HostJob | undefined;
  sort(job: HostJob): Promise<void>;
}

/** Properties of a call that decide which session runs it, and when. */
export interface Task {
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
  readonly #onWarning: (warning: ClsortError) => void;
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
    this.#batcher = new SortBatcher(session, new BackgroundCompiler(session, scheduler), onWarning);
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
    const places = [job.keys.place, job.sorted, job.values?.place, job.moved];
    const onHost = !places.some((place) => place && isOnDevice(place));
    const { keys, settings } = job;
    const host = this.#multiDevice?.sharedJob(job);
    const share = async (all: HostJob): Promise<T> => {
      await this.#multiDevice?.sort(all);
      return made;
    };
    const shared = host && (() => share(host));
    const overwrites = into !== undefined;
    const sort = { job, made };
    const task = { n: keys.n, settings, dependency, onHost, again: onHost, overwrites, shared, sort };
    const result = () => made;
    return this.execute(task, (call) => chain(call.sort(job), () => result));
  }

  /**
   * Runs a call on arrays or on promises of arrays. It does not wait for a promise of another call whose
   * result is already known.
   *
   * @param execute receives the dependency that resolves inputs to arrays; must not wait before it has made
   *   its call
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
    const isResolved = unresolved.length === 0;
    const result = toPromise(() =>
      isResolved ? execute(dependency) : executeAfterInputs(unresolved, dependency, execute),
    ).then(
      (made) => {
        dependency.release();
        return made;
      },
      (error) => {
        dependency.release();
        throw error;
      },
    );
    if (!isResolved || dependency.result) this.#dependencies.set(result, dependency);
    return result;
  }

  /** Runs a call when it is its turn, and waits for it. */
  execute<T>(task: Task, body: ExecutionBody<T>): Promise<T> {
    const execution = this.#make(task, body);
    task.dependency.done = execution;
    return execution;
  }

  #make<T>(task: Task, body: ExecutionBody<T>): Promise<T> {
    const session = this.sessionFor(task.n, task.settings, task.onHost);
    if (task.onHost || !canOverlap(task)) return this.#executeToCompletion(task, body, session);
    const context = { settings: task.settings, onWarning: this.#onWarning };
    const call = new OverlappedExecution(task, body, session, context);
    return this.#scheduler.runInOrder(() => call.enqueue());
  }

  /** Runs a call that later calls must wait for, or whose order does not matter. */
  #executeToCompletion<T>(task: Task, body: ExecutionBody<T>, session: Session): Promise<T> {
    const { n, settings, dependency, onHost } = task;
    const expectedBackend = session.backend;
    const context = { settings, onWarning: this.#onWarning };
    const whole = (backend: Backend) => executeCall({ ...context, backend }, body);
    const isConcurrent = onHost && expectedBackend.overlaps && canOverlap(task);
    // The first of several calls starts at once, so that awaiting each call adds no latency.
    const batched = isConcurrent && !this.#scheduler.isIdle ? task.sort : undefined;
    const alone = () => session.run(whole, task);
    const run = (): MaybePromise<T> => {
      dependency.assertInputs();
      if (!onHost) assertSameBackend(session, expectedBackend);
      if (task.shared) return task.shared() as Promise<T>;
      return (batched && this.#batcher.join(batched.job, batched.made as T, alone)) ?? alone();
    };
    const onFailure = (error: unknown): MaybePromise<T> => {
      const fallsBack =
        task.again && !task.shared && this.#breakEvenHost && session !== this.#breakEvenHost.session;
      if (!(error instanceof MemoryError) || !fallsBack) return dependency.recordFailure(error);
      return dependency.runStep(() => this.#retryOnHost(error, settings, body));
    };
    const runRecordingFailure = () => recover(run, onFailure);
    return isConcurrent
      ? this.#scheduler.runConcurrently(n, runRecordingFailure)
      : this.#scheduler.runExclusive(runRecordingFailure);
  }

  /** Runs a call on the host engine after the device ran out of memory, unless a device was requested. */
  async #retryOnHost<T>(cause: MemoryError, settings: SortSettings, body: ExecutionBody<T>): Promise<T> {
    const warn = settings.onWarning ?? this.#onWarning;
    warn(new MemoryError(`${cause.message}; falling back to the host`, { cause }));
    this.#session.backend.memory.trim();
    const backend = new HostBackend('out of device memory');
    return executeCall(
      { backend, settings: { ...settings, algorithm: 'auto' }, onWarning: this.#onWarning },
      body,
    );
  }

  /**
   * Selects the session of a call of n keys: the host engine below the break-even size, the device otherwise.
   * Options that only devices support keep the call on the device.
   */
  sessionFor(n: number, { algorithm, scan, radixBits }: SortSettings, onHost: boolean): Session {
    const open = algorithm === 'auto' && scan === 'auto' && radixBits === undefined;
    return this.#breakEvenHost && onHost && open && n < this.#breakEvenHost.below
      ? this.#breakEvenHost.session
      : this.#session;
  }
}

/** A call on device arrays; the next call may begin before it is done. */
class OverlappedExecution<T> {
  readonly #task: Task;
  readonly #body: ExecutionBody<T>;
  readonly #session: Session;
  readonly #context: Omit<CallContext, 'backend'>;
  /** Backend of the arrays, and then of the call. */
  #backend: Backend;

  constructor(task: Task, body: ExecutionBody<T>, session: Session, context: Omit<CallContext, 'backend'>) {
    this.#task = task;
    this.#body = body;
    this.#session = session;
    this.#context = context;
    this.#backend = session.backend;
  }

  /** @returns the completion, which waits for the call */
  enqueue(): MaybePromise<Completion<T>> {
    const { dependency } = this.#task;
    return dependency.runStep(() => {
      dependency.assertInputs();
      assertSameBackend(this.#session, this.#backend);
      return chain(
        this.#session.run((backend) => this.#start(backend), this.#task),
        (started) => this.#completion(started),
      );
    });
  }

  #start(backend: Backend): MaybePromise<StartedCall<T>> {
    this.#backend = backend;
    return startCall({ ...this.#context, backend }, this.#body, true);
  }

  #completion(started: StartedCall<T>): Completion<T> {
    const { dependency } = this.#task;
    dependency.markEnqueued(started);
    const inputs = dependency.hasInputs ? () => dependency.waitForInputs() : undefined;
    const onFailure = (error: unknown) => dependency.recordFailure(error);
    return () => this.#session.complete(this.#backend, () => started.complete(inputs, onFailure), this.#task);
  }
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
  for (const promise of promises) {
    try {
      dependency.addInput(promise, await promise);
    } catch (error) {
      throw failedInputError(error);
    }
  }
  return execute(dependency);
}
