import type { Dtype } from '../../keys/dtype.js';
import {
  type ClsortError,
  MemoryError,
  MismatchError,
  TimeoutError,
  UnsupportedError,
} from '../../util/errors.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import type { CallContext, PendingSort } from '../backend/backend.js';
import type { ColumnVerifier, DeferredVerdict } from '../backend/column-verifier.js';
import type { Columns } from '../backend/columns.js';
import { addSpans, assertNotDetached, detachErrorOr, type Span } from '../model/array-assertions.js';
import { byteLengthOf, type Column, isOnDevice } from '../model/column.js';
import { type HostJob, isHostJob, requestOf, type SortJob } from '../model/job.js';
import { type SortSettings, throwIfAborted } from '../model/options.js';
import type { Plan, PlanRequest } from '../model/plan.js';
import { type Outcome, reportDevice, reportOf } from '../model/report.js';
import { callChannel, currentRecord } from './call-channel.js';
import { type PlanSelector, Refusal } from './plan-selector.js';
import { lostIfFewKeys, sortFitting } from './sort-in-chunks.js';

/** A sort within a call, as an operation requests it. */
export type Sort = Omit<SortJob, 'settings'> & { readonly settings?: Partial<SortSettings> };

/**
 * Enqueues a call; waits only if something it needs is not ready.
 *
 * @returns the result getter, to be called after the wait
 */
export type ExecutionBody<T> = (call: Call) => MaybePromise<() => T>;

/**
 * Runs the steps of a call that follow its first sort on columns without keys, which only compiles their programs.
 *
 * @param none returns a column without keys
 */
export type LaterSteps = (none: (dtype: Dtype) => Column) => readonly MaybePromise<unknown>[];

/** A sort whose commands are enqueued. */
interface EnqueuedSort {
  readonly plan: Plan;
  readonly pending: PendingSort;
}

/** Thrown when a call has read invalid data. */
export class StaleInput {}

/** The execution that a call is an attempt of. */
export interface Repeatable {
  readonly selector: PlanSelector;
  /** Whether a result was rejected. */
  readonly hasRefused: boolean;
  /** Runs a part of the call as a call of its own. */
  runPart<T>(context: CallContext, body: ExecutionBody<T>): Promise<T>;
}

/**
 * One attempt at a call. An operation enqueues its sorts and column kernels through it. `settle` waits for
 * them and decides whether the results are valid. Devices and the host engine differ only in the backend.
 */
export class Call {
  readonly columns: Columns;
  readonly settings: SortSettings;
  readonly #context: CallContext;
  readonly #execution: Repeatable;
  readonly #sorts: (EnqueuedSort & { report(outcome: Outcome): void })[] = [];
  readonly #pendingSorts: PendingSort[] = [];
  /** Caller's memory that the call reads and writes. */
  readonly #spans: Span[] = [];
  /** Verdicts to evaluate after the wait. */
  readonly #findings: DeferredVerdict[] = [];
  /** Number of keys of the largest sort. */
  #maxKeys = 0;
  /** Whether `onReport` was called: a call reports its first sort. */
  #hasReported = false;
  /** Whether commands were enqueued that have not been waited for. */
  #inFlight = false;

  constructor(context: CallContext, execution: Repeatable) {
    this.#context = context;
    this.#execution = execution;
    this.settings = context.settings;
    this.columns = context.backend.columns(context.settings);
    const record = callChannel.hasSubscribers ? currentRecord() : undefined;
    if (record) record.device = reportDevice(context.backend.info);
  }

  /**
   * Returns the column in memory that column kernels can read.
   *
   * @throws InputError when its memory was detached or shrunk
   * @throws MemoryError when the copy does not fit in memory
   */
  bindInput(from: Column): MaybePromise<Column> {
    this.#trackSpan(from);
    this.#inFlight = true;
    return this.columns.bindInput(from);
  }

  /** Lets `write` fill a column in memory that column kernels can write, and copies the result to `to`. */
  bindOutput(to: Column, write: (to: Column) => MaybePromise<void>): MaybePromise<void> {
    this.#trackSpan(to);
    this.#inFlight = true;
    return this.columns.bindOutput(to, write);
  }

  /** Copies the first `to.n` keys of `from`, a temporary column, to `to`. */
  copy(from: Column, to: Column): Promise<void> {
    this.#trackSpan(to);
    this.#inFlight = true;
    return this.columns.copy(from, to);
  }

  /**
   * Copies the keys to host memory for an operation that the backend does not support, and warns.
   *
   * @param operation the operation, for the message
   * @param feature the feature that the device lacks
   */
  fallBackToHost(operation: string, feature: string, keys: Column): ReturnType<Columns['copyToHost']> {
    const { info } = this.#context.backend;
    const message = `cannot ${operation} on ${info?.name}: it does not support ${feature}; falling back to the host`;
    this.#warn(new UnsupportedError(message));
    return this.columns.copyToHost(keys);
  }

  /**
   * Sorts with the settings of the call, overridden by those of the sort. If all memory is host memory, the
   * sort is done when this settles; otherwise `settle` waits for it.
   *
   * @returns undefined if the sort is enqueued
   */
  sort(sort: Sort): Promise<void> | undefined {
    const job = this.#jobOf(sort);
    const { keys, settings } = job;
    const started = performance.now();
    throwIfAborted(settings.signal);
    settings.onProgress?.({ phase: 'sort', done: 0, total: keys.n });
    const report = (outcome: Outcome): void => this.#report(job, started, outcome);
    addSpans(job, this.#spans);
    assertNotDetached(this.#spans);
    if (isHostJob(job)) return this.#sortFitting(job).then(report);
    this.#inFlight = true;
    const request = requestOf(job);
    const enqueued = this.#enqueueNow(job, request);
    if (enqueued) {
      this.#sorts.push({ ...enqueued, report });
      return undefined;
    }
    return this.#enqueue(job, request).then((later) => {
      this.#sorts.push({ ...later, report });
    });
  }

  #jobOf(sort: Sort): SortJob {
    if (sort.settings === this.settings && !this.settings.onProgress) return sort as SortJob;
    const { settings: own, ...rest } = sort;
    const isSame = own === undefined && !this.settings.onProgress;
    return { ...rest, settings: isSame ? this.settings : settingsOf(this.settings, own) };
  }

  /**
   * Reports the outcome of a sort to `onProgress` and `onReport`.
   *
   * @throws AbortedError when the signal is aborted
   */
  #report({ keys: { n, dtype }, settings }: SortJob, started: number, outcome: Outcome): void {
    throwIfAborted(settings.signal);
    settings.onProgress?.({ phase: 'sort', done: n, total: n });
    const record = callChannel.hasSubscribers ? currentRecord() : undefined;
    if (!record && !settings.onReport) return;
    const report = reportOf({ n, dtype, started, outcome, info: this.#context.backend.info });
    record?.reports.push(report);
    if (!this.#hasReported) settings.onReport?.(report);
    this.#hasReported = true;
  }

  /**
   * Verifies a result if `verify` is set. There is no fallback: `settle` throws if the result is wrong.
   *
   * @param make enqueues the verification of device memory, before that is copied elsewhere
   */
  verify(make: (verifier: ColumnVerifier) => Promise<DeferredVerdict>): Promise<void> | undefined {
    if (!this.settings.verify) return undefined;
    this.#inFlight = true;
    return make(this.columns.verifier).then((findings) => {
      this.#findings.push(findings);
    });
  }

  /**
   * Starts to compile what `verify` needs, before the step that it verifies, on a column without keys. An error is
   * ignored, since it recurs in `verify`.
   */
  prepareVerify(dtype: Dtype, make: (verifier: ColumnVerifier, none: Column) => Promise<unknown>): void {
    if (!this.settings.verify) return;
    const none = this.columns.temporary(dtype, 0);
    void (async () => make(this.columns.verifier, none))().catch(() => undefined);
  }

  /**
   * Compiles the programs of a call at the same time: those of the first plan of its sort, and of later steps.
   *
   * @param later its errors are ignored, since they recur when the steps are run
   * @returns settles when all are compiled; undefined if the plan is ready, without a call of `later`
   */
  prepare(sort: Sort, later: LaterSteps): Promise<void> | undefined {
    const { backend } = this.#context;
    const [first] = backend.plans(requestOf(this.#jobOf(sort)));
    if (!first || backend.isReady(first)) return undefined;
    const none = (dtype: Dtype): Column => this.columns.temporary(dtype, 0);
    return Promise.allSettled([this.canSort(sort), ...later(none)]).then(() => undefined);
  }

  /** Returns whether a plan for this sort is left. A plan that does not work is reported as a warning. */
  async canSort({ settings: own, ...rest }: Sort): Promise<boolean> {
    const settings = { ...this.settings, ...own };
    try {
      return (
        (await this.#execution.selector.firstUsable(requestOf({ ...rest, settings }), settings)) !== undefined
      );
    } catch (error) {
      if (error instanceof UnsupportedError) return false;
      throw error;
    }
  }

  /**
   * Waits for everything that was enqueued so far, and checks it.
   *
   * @param isStale resolves to whether the inputs that were read are invalid
   * @throws Refusal when the sort must be repeated with another plan
   * @throws StaleInput when the inputs were invalid
   * @throws MismatchError when a result other than that of a sort is wrong
   */
  settle(isStale?: () => Promise<boolean>): Promise<void> {
    const finished = this.#inFlight ? this.columns.finish() : Promise.resolve();
    this.#inFlight = false;
    const isChecked = isStale !== undefined || this.settings.verify || this.#findings.length > 0;
    return isChecked || this.#sorts.length > 0 ? this.#checkResults(finished, isStale) : finished;
  }

  /** The part of `settle` after the wait. */
  async #checkResults(finished: Promise<void>, isStale?: () => Promise<boolean>): Promise<void> {
    await finished;
    if (isStale && (await isStale())) throw new StaleInput();
    const reports: (() => void)[] = [];
    for (const { plan, pending, report } of this.#sorts.splice(0)) {
      const outcome = await acceptedOutcome(plan, pending);
      reports.push(() => report(outcome));
    }
    if (this.settings.verify) await this.columns.check();
    this.#checkFindings();
    for (const report of reports) report();
  }

  /**
   * Evaluates the verdicts of column verifiers.
   *
   * @throws MismatchError when a result is wrong
   */
  #checkFindings(): void {
    for (const findings of this.#findings.splice(0)) {
      const wrong = findings();
      if (wrong === undefined) continue;
      const engineName = this.#context.backend.info?.name ?? 'the host engine';
      throw new MismatchError(`cannot use the result: ${engineName} computed it incorrectly (${wrong})`);
    }
  }

  /**
   * Checks the host memory that the call works on.
   *
   * @throws InputError when it was detached or shrunk
   */
  assertNotDetached(): void {
    assertNotDetached(this.#spans);
  }

  /** Flushes the queue and releases all borrowed memory. */
  flushAndRelease(): void {
    this.columns.flush();
    this.release();
  }

  /**
   * Waits until nothing uses the borrowed memory, and releases it.
   *
   * @returns the error of the call
   */
  async failed(cause: unknown): Promise<unknown> {
    const error = detachErrorOr(this.#spans, cause);
    // Commands in flight may still write to the caller's host memory. A device that hangs is abandoned
    // instead.
    if (!(error instanceof TimeoutError)) await this.columns.finish().catch(() => undefined);
    this.release();
    return error instanceof MemoryError ? lostIfFewKeys(error, this.#maxKeys) : error;
  }

  /** Releases borrowed memory. Can be called twice. */
  release(): void {
    for (const pending of this.#pendingSorts.splice(0)) pending.release();
    this.columns.release();
  }

  /** Sorts a job in host memory as a whole, or in chunks. */
  #sortFitting(job: HostJob): Promise<Outcome> {
    const request = requestOf(job);
    const { backend } = this.#context;
    return sortFitting(job, backend.chunkLimit(request), {
      sortWhole: () => this.#sortWhole(job, request),
      sortPiece: (piece) => this.#sortPiece(piece),
      beforeRetry: async (warning) => {
        await this.columns.finish().catch(() => undefined); // reported below
        backend.memory.trim();
        this.#warn(warning);
      },
    });
  }

  /**
   * Sorts as a whole and waits for it.
   *
   * @throws Refusal when the result is rejected
   */
  async #sortWhole(job: SortJob, request: PlanRequest): Promise<Outcome> {
    const { plan, pending } = this.#enqueueNow(job, request) ?? (await this.#enqueue(job, request));
    try {
      await this.columns.finish();
      return await acceptedOutcome(plan, pending);
    } catch (error) {
      if (!(error instanceof TimeoutError)) await this.columns.finish().catch(() => undefined);
      throw error;
    } finally {
      pending.release();
    }
  }

  /** Sorts a chunk, or a part of the merged chunks, as a call of its own. */
  #sortPiece(piece: HostJob): Promise<Outcome> {
    const context = { ...this.#context, settings: piece.settings };
    return this.#execution.runPart(context, async (call) => {
      const sorted = await call.#sortWhole(piece, requestOf(piece));
      return () => sorted;
    });
  }

  /** Enqueues a sort if its plan is compiled and nothing has to be waited for. */
  #enqueueNow(job: SortJob, request: PlanRequest): EnqueuedSort | undefined {
    this.#maxKeys = Math.max(this.#maxKeys, request.n);
    const { backend } = this.#context;
    const [first] = this.#execution.hasRefused ? [] : backend.plans(request);
    const plan = first && backend.trusts(first) && backend.isReady(first) ? first : undefined;
    const pending = plan && backend.sortNow(plan, job);
    return pending && this.#track(plan, pending);
  }

  /** Enqueues a sort with the best plan left, or on the host engine if there is none. */
  async #enqueue(job: SortJob, request: PlanRequest): Promise<EnqueuedSort> {
    const plan = await this.#execution.selector.plan(request, job.settings);
    return this.#track(plan, await this.#context.backend.sort(plan, job));
  }

  #track(plan: Plan, pending: PendingSort): EnqueuedSort {
    this.#pendingSorts.push(pending);
    return { plan, pending };
  }

  #trackSpan(column: Column): void {
    const { place } = column;
    if (isOnDevice(place)) return;
    const span = [place, byteLengthOf(column)] as const;
    assertNotDetached([span]);
    this.#spans.push(span);
  }

  #warn(warning: ClsortError): void {
    (this.settings.onWarning ?? this.#context.onWarning)(warning);
  }
}

/**
 * Returns the outcome of a sort, after the wait.
 *
 * @throws Refusal when the result is rejected
 */
async function acceptedOutcome(plan: Plan, pending: PendingSort): Promise<Outcome> {
  const outcome = await pending.outcome();
  if (typeof outcome === 'string') throw new Refusal(plan, outcome);
  return outcome;
}

/** Returns the settings of a sort within a call. Its progress is not the progress of the call. */
function settingsOf({ onProgress: _, ...shared }: SortSettings, own?: Partial<SortSettings>): SortSettings {
  return { ...shared, ...own };
}
