import { type ClsortError, DeviceLostError, MemoryError } from '../../util/errors.js';
import { chain, type MaybePromise, recover, toPromise } from '../../util/maybe-promise.js';
import type { SortSettings } from '../api/options.js';
import type { Backend, Session } from '../backend/backend.js';
import { isOnDevice } from '../backend/column.js';
import { HostBackend } from '../backend/host-backend.js';
import type { HostJob, SortJob } from '../backend/job.js';
import { BackgroundCompiler } from './background-compiler.js';
import { type CallContext, type ExecutionBody, executeCall, type StartedCall, startCall } from './call.js';
import type { CallScheduler, Completion } from './call-scheduler.js';
import { Dependency, failedInputError, isPromise } from './dependency.js';
import { SortBatcher } from './sort-batcher.js';

/** Who sorts fewer keys than `below`. */
export interface BreakEvenHost {
  readonly session: Session;
  readonly below: number;
}

/** Several devices that sort host arrays together: as many of them as are fastest. */
export interface MultiDeviceSorter {
  /** The job of host memory to share, or undefined if one device sorts it. */
  sharedJob(job: SortJob): HostJob | undefined;
  sort(job: HostJob): Promise<void>;
}

/** A call, as far as it matters who makes it, and when. */
export interface Task {
  readonly n: number;
  readonly settings: SortSettings;
  /** What other calls may know of it, and it of them. */
  readonly dependency: Dependency;
  /** All of its keys and results are in host memory. */
  readonly onHost: boolean;
  /** It may be made once more when the device was lost. */
  again: boolean;
  /** It writes to an array of the caller's. */
  readonly overwrites?: boolean;
  /** Does the call on several devices, by the keeper of each. */
  shared?: (() => Promise<unknown>) | undefined;
  /** What it is, where it is one sort, and what the caller gets. */
  sort?: { readonly job: SortJob; readonly made: unknown };
}

/**
 * May the next call begin before this one is done? Not where others would be in its time or in its report, and
 * not where it overwrites what a call before may have to read once more.
 */
const canOverlap = ({ settings, overwrites = false }: Task): boolean =>
  !overwrites && settings.timeout === undefined && settings.onReport === undefined;

/** The calls of a Sorter: who makes each, when, and what others may know of it before it is done. */
export class Calls {
  readonly #session: Session;
  /** Who sorts fewer host keys than `below` when nobody asked for a device. */
  readonly #breakEvenHost: BreakEvenHost | undefined;
  readonly #scheduler: CallScheduler;
  readonly #multiDevice: MultiDeviceSorter | undefined;
  readonly #compiler: BackgroundCompiler;
  readonly #batcher: SortBatcher;
  readonly #onWarning: (warning: ClsortError) => void;
  /** What is known of calls, by the promises that they returned. */
  readonly #dependencies = new WeakMap<PromiseLike<unknown>, Dependency>();

  /**
   * @param onWarning gets warnings of calls that name nobody
   * @param multiDevice who shares large sorts, if somebody does
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
    this.#compiler = new BackgroundCompiler(session, scheduler);
    this.#batcher = new SortBatcher(session, this.#compiler, onWarning);
    this.#onWarning = onWarning;
  }

  /**
   * Makes a call that is one sort.
   *
   * @param made what the caller gets
   * @param into an array that it overwrites
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
   * Makes a call on arrays, or on promises of them. Where a promise is of another call whose result is known, the
   * call need not wait for it.
   *
   * @param execute gets what tells the arrays; does not wait before it has made its call
   */
  runWithInputs<T>(
    inputs: readonly unknown[],
    execute: (dependency: Dependency) => MaybePromise<T>,
  ): Promise<T> {
    const dependency = new Dependency();
    const unresolved: PromiseLike<unknown>[] = [];
    for (const input of inputs) {
      if (!isPromise(input)) continue;
      input.then(undefined, () => undefined); // this call tells of a failure
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

  /** Makes a call when it is its turn, and waits for it. */
  execute<T>(task: Task, body: ExecutionBody<T>): Promise<T> {
    const execution = this.#make(task, body);
    task.dependency.done = execution;
    return execution;
  }

  #make<T>(task: Task, body: ExecutionBody<T>): Promise<T> {
    const session = this.sessionFor(task.n, task.settings, task.onHost);
    if (task.onHost || !canOverlap(task)) return this.#executeToCompletion(task, body, session);
    const context = { settings: task.settings, onWarning: this.#onWarning, compiler: this.#compiler };
    const call = new OverlappedExecution(task, body, session, context);
    return this.#scheduler.runInOrder(() => call.enqueue());
  }

  /** Makes a call that others do not begin behind, or that the order does not matter to. */
  #executeToCompletion<T>(task: Task, body: ExecutionBody<T>, session: Session): Promise<T> {
    const { n, settings, dependency, onHost } = task;
    const expectedBackend = session.backend;
    const context = { settings, onWarning: this.#onWarning, compiler: this.#compiler };
    const whole = (backend: Backend) => executeCall({ ...context, backend }, body);
    const isConcurrent = onHost && expectedBackend.overlaps && canOverlap(task);
    // The first of several goes ahead, so that who waits for each call does not wait for more.
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

  /** Does on the host what the device has no room for, when nobody asked for a device. */
  async #retryOnHost<T>(cause: MemoryError, settings: SortSettings, body: ExecutionBody<T>): Promise<T> {
    const warn = settings.onWarning ?? this.#onWarning;
    warn(new MemoryError(`${cause.message}; the host does without the device`, { cause }));
    this.#session.backend.memory.trim();
    const backend = new HostBackend('the device has no room for this');
    return executeCall(
      { backend, settings: { ...settings, algorithm: 'auto' }, onWarning: this.#onWarning },
      body,
    );
  }

  /**
   * Chooses who makes a call of n keys: the host engine where so few are sorted there in less time, else the device. Options that only a
   * device knows keep the call there.
   */
  sessionFor(n: number, { algorithm, scan, radixBits }: SortSettings, onHost: boolean): Session {
    const open = algorithm === 'auto' && scan === 'auto' && radixBits === undefined;
    return this.#breakEvenHost && onHost && open && n < this.#breakEvenHost.below
      ? this.#breakEvenHost.session
      : this.#session;
  }
}

/** A call on device arrays that the next one may begin behind, before it is done. */
class OverlappedExecution<T> {
  readonly #task: Task;
  readonly #body: ExecutionBody<T>;
  readonly #session: Session;
  readonly #context: Omit<CallContext, 'backend'>;
  /** Who has the arrays, and then who makes the call. */
  #backend: Backend;

  constructor(task: Task, body: ExecutionBody<T>, session: Session, context: Omit<CallContext, 'backend'>) {
    this.#task = task;
    this.#body = body;
    this.#session = session;
    this.#context = context;
    this.#backend = session.backend;
  }

  /** @returns waits for the call */
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

/** @throws DeviceLostError when the arrays of a call have gone since it was made */
function assertSameBackend(session: Session, expected: Backend): void {
  if (!expected.lost && expected === session.backend) return;
  throw new DeviceLostError('the arrays of this call were lost with their device, which failed');
}

/**
 * Makes a call when promises of arrays have come to something, in the turn of the last one: before code that waited for it later
 * disposes of the array.
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
