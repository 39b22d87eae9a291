import type { Dtype } from '../../keys/dtype.js';
import {
  type ClsortError,
  DeviceLostError,
  MemoryError,
  MismatchError,
  TimeoutError,
  UnsupportedError,
} from '../../util/errors.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import type { CallContext, PendingSort } from '../backend/backend.js';
import type { ColumnVerifier, DeferredVerdict } from '../backend/column-verifier.js';
import type { Columns } from '../backend/columns.js';
import { verifyOnHost } from '../backend/host-backend.js';
import {
  addSpans,
  assertNotDetached,
  detachErrorOr,
  MAX_INDICES,
  type Span,
} from '../model/array-assertions.js';
import { byteLengthOf, type Column, isOnDevice } from '../model/column.js';
import { type HostJob, isHostJob, requestOf, type SortJob } from '../model/job.js';
import { type SortSettings, throwIfAborted } from '../model/options.js';
import type { Plan, PlanRequest } from '../model/plan.js';
import { type Outcome, reportDevice, reportOf } from '../model/report.js';
import { callChannel, currentRecord } from './call-channel.js';
import { PlanSelector, Refusal } from './plan-selector.js';
import { MIN_CHUNK_KEYS } from './policy.js';
import { sortInChunks } from './sort-in-chunks.js';

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
class StaleInput {}

/** A call under way, which is repeated if necessary. */
export class Execution<T> {
  readonly #context: CallContext;
  #madeSelector: PlanSelector | undefined;
  readonly #body: ExecutionBody<T>;
  readonly #releasesEarly: boolean;
  readonly #onFailure: ((error: unknown) => void) | undefined;
  /** The current attempt, with all commands enqueued. */
  #attempt: { readonly call: Call; readonly result: () => T } | undefined;
  #stale = false;

  /**
   * @param options.releasesEarly flushes the queue and releases borrowed memory before the commands are done: for
   *   calls that use device memory only, which others reuse later in the queue
   * @param options.onFailure called with the error of the call before other calls get their turn
   */
  constructor(
    context: CallContext,
    body: ExecutionBody<T>,
    options: { readonly releasesEarly?: boolean; readonly onFailure?: (error: unknown) => void } = {},
  ) {
    this.#context = context;
    this.#body = body;
    this.#releasesEarly = options.releasesEarly ?? false;
    this.#onFailure = options.onFailure;
  }

  /**
   * Enqueues a call and waits for it.
   *
   * @throws the error of `enqueue` or `complete`
   */
  static async run<T>(context: CallContext, body: ExecutionBody<T>): Promise<T> {
    const execution = new Execution(context, body);
    const enqueued = execution.enqueue();
    if (enqueued) await enqueued;
    return await execution.complete();
  }

  /**
   * Whether the call was repeated because a result was rejected. Calls that read its results must also be
   * repeated.
   */
  get repeated(): boolean {
    return this.#stale || this.hasRefused;
  }

  /** Whether a result was rejected. */
  get hasRefused(): boolean {
    return this.#madeSelector?.hasRefused ?? false;
  }

  /** Made at first use: most calls use the first plan. */
  get selector(): PlanSelector {
    this.#madeSelector ??= new PlanSelector(this.#context);
    return this.#madeSelector;
  }

  /**
   * Enqueues the call. This is the synchronous path: if nothing has to be waited for, all commands are enqueued
   * when it returns. Row `reduce` of `bench calls` for 2^8 keys, chained, on PoCL: 10 µs, with promises 19 µs.
   *
   * @returns settles when all commands are enqueued; undefined if they are
   * @throws the error of the body, in the promise
   */
  enqueue(): Promise<void> | undefined {
    const call = new Call(this.#context, this);
    try {
      const result = this.#body(call);
      if (result instanceof Promise) return this.#enqueueAfter(call, result);
      this.#finishEnqueuing(call, result);
      return undefined;
    } catch (error) {
      return this.#enqueueAfter(call, Promise.reject(error));
    }
  }

  /** Waits for the body, and enqueues another attempt if a result was rejected: operations may wait in between. */
  async #enqueueAfter(call: Call, body: Promise<() => T>): Promise<void> {
    try {
      this.#finishEnqueuing(call, await body);
    } catch (cause) {
      await this.#prepareRetry(call, cause);
      await this.enqueue();
    }
  }

  /**
   * Waits until nothing uses the memory of a failed attempt.
   *
   * @throws the error, unless the call must be repeated; MismatchError when `onMismatch` is `throw`
   */
  async #prepareRetry(call: Call, cause: unknown): Promise<void> {
    try {
      const error = await call.failed(cause);
      if (error instanceof Refusal) this.selector.refuse(error);
      else if (error instanceof StaleInput) this.#stale = true;
      else throw error;
    } catch (error) {
      this.#onFailure?.(error);
      throw error;
    }
  }

  #finishEnqueuing(call: Call, result: () => T): void {
    call.assertNotDetached();
    if (this.#releasesEarly) call.flushAndRelease();
    this.#attempt = { call, result };
  }

  /**
   * Waits for the call and checks its results. If a result is rejected, repeats the call with another plan.
   *
   * @param inputs waits for the inputs; resolves to whether one was repeated after this call had read it
   * @throws MismatchError when a result is rejected and `onMismatch` is `throw`
   * @throws the error of the call
   */
  async complete(inputs?: () => Promise<boolean>): Promise<T> {
    const inputsDone = inputs?.();
    inputsDone?.catch(() => undefined); // reported below, once nothing is in flight
    const isStale = inputsDone && (async () => !this.#stale && (await inputsDone));
    for (;;) {
      const { call, result } = this.#attempt as { call: Call; result: () => T };
      try {
        await call.settle(isStale);
        call.assertNotDetached();
        call.release();
        return result();
      } catch (cause) {
        await this.#prepareRetry(call, cause);
      }
      await this.enqueue();
    }
  }
}

/**
 * One attempt at a call. An operation enqueues its sorts and column kernels through it. `settle` waits for
 * them and decides whether the results are valid. Devices and the host engine differ only in the backend.
 */
export class Call {
  readonly columns: Columns;
  readonly settings: SortSettings;
  readonly #context: CallContext;
  readonly #execution: Pick<Execution<unknown>, 'selector' | 'hasRefused'>;
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

  constructor(context: CallContext, execution: Pick<Execution<unknown>, 'selector' | 'hasRefused'>) {
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
    return error instanceof MemoryError ? this.#classifyMemoryError(error) : error;
  }

  /** Releases borrowed memory. Can be called twice. */
  release(): void {
    for (const pending of this.#pendingSorts.splice(0)) pending.release();
    this.columns.release();
  }

  /** Sorts as a whole, or in chunks that are halved after each memory error. */
  async #sortFitting(job: HostJob): Promise<Outcome> {
    const request = requestOf(job);
    if (job.segments) return this.#sortWhole(job, request); // chunks would cut segments
    const { n } = job.keys;
    const limit = this.#context.backend.chunkLimit(request);
    const onDevice = Number.isFinite(limit);
    const longest = onDevice && job.widePositions ? MAX_INDICES - 1 : limit;
    let chunk = Math.min(job.settings.tuning.chunk ?? limit, limit, longest);
    for (;;) {
      try {
        return await (chunk >= n ? this.#sortWhole(job, request) : this.#sortInChunks(job, chunk));
      } catch (error) {
        chunk = Math.ceil(Math.min(chunk, n) / 2);
        if (!(error instanceof MemoryError) || chunk < MIN_CHUNK_KEYS) throw error;
        await this.columns.finish().catch(() => undefined); // reported below
        this.#context.backend.memory.trim();
        const message = `${error.message}; continuing with chunks of ${chunk} keys`;
        this.#warn(new MemoryError(message, { cause: error }));
      }
    }
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

  async #sortInChunks(job: HostJob, chunk: number): Promise<Outcome> {
    const { keys, settings } = job;
    const outcomes: Outcome[] = [];
    const chunks = Math.ceil(keys.n / chunk);
    // Verifying each chunk would not verify the merged result.
    const { onProgress: _, onReport, ...own } = { ...settings, verify: false };
    const context = {
      ...this.#context,
      settings: { ...own, ...(onReport && { onReport: () => undefined }) },
    };
    await sortInChunks(job, chunk, async (part) => {
      throwIfAborted(settings.signal);
      const piece = { ...part, settings: context.settings };
      const outcome = await Execution.run(context, async (call) => {
        const sorted = await call.#sortWhole(piece, requestOf(piece));
        return () => sorted;
      });
      outcomes.push(outcome);
      const done = Math.floor((keys.n * outcomes.length) / (2 * chunks)); // each chunk is sorted once and merged once
      settings.onProgress?.({ phase: 'sort', done, total: keys.n });
    });
    const [first] = outcomes;
    if (!first) throw new UnsupportedError('cannot sort in chunks: there are no keys');
    const verified = settings.verify ? await verifyOnHost(job, 'the sort in chunks') : undefined;
    const stages = outcomes.flatMap((outcome) => outcome.stages);
    return { plan: first.plan, stages, chunks, ...(verified && { verified }) };
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

  /** A device that is out of resources (-5) even for a few keys does not lack memory: it is lost. */
  #classifyMemoryError(error: MemoryError): ClsortError {
    const hasFewKeys = this.#maxKeys > 0 && Math.ceil(this.#maxKeys / 2) < MIN_CHUNK_KEYS;
    if (!hasFewKeys || error.details.status !== -5) return error;
    return new DeviceLostError(`cannot use the device: it fails even for few keys (${error.message})`, {
      cause: error,
    });
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
