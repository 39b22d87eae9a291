import {
  type ClsortError,
  DeviceLostError,
  MemoryError,
  MismatchError,
  TimeoutError,
  UnsupportedError,
} from '../../util/errors.js';
import { chain, chainOrRecover, type MaybePromise, recover } from '../../util/maybe-promise.js';
import type { PendingSort } from '../backend/backend.js';
import type { ColumnVerifier, DeferredVerdict } from '../backend/column-verifier.js';
import type { Columns } from '../backend/columns.js';
import { verifyOnHost } from '../backend/host-backend.js';
import { byteLengthOf, type Column, isOnDevice } from '../model/column.js';
import { type HostJob, hostJob, requestOf, type SortJob, sortJob } from '../model/job.js';
import { type SortSettings, throwIfAborted } from '../model/options.js';
import type { Plan, PlanRequest } from '../model/plan.js';
import { type Outcome, reportOf } from '../model/report.js';
import { addSpans, assertNotDetached, detachErrorOr, type Span } from './assert-not-detached.js';
import type { CallContext } from './call-context.js';
import { PlanSelector, Refusal } from './plan-selector.js';
import { sortInChunks } from './sort-in-chunks.js';

/** Smallest chunk after memory errors: a device that cannot sort even this many keys is broken. */
const MIN_CHUNK_KEYS = 4096;

/** A sort within a call, as an operation requests it. */
export type Sort = Omit<SortJob, 'settings'> & { readonly settings?: Partial<SortSettings> };

/**
 * Enqueues a call; waits only if something it needs is not ready.
 *
 * @returns the result getter, to be called after the wait
 */
export type ExecutionBody<T> = (call: Call) => MaybePromise<() => T>;

/** A call whose commands are all enqueued. */
export interface StartedCall<T> {
  /**
   * Whether the call was repeated because a result was rejected. Calls that read its results must also be
   * repeated.
   */
  readonly repeated: boolean;
  /**
   * Waits for the call and checks its results. If a result is rejected, repeats the call with another plan.
   *
   * @param inputs waits for the inputs; resolves to whether one was repeated after this call had read it
   * @param onFailure called with a failure before any other handler; throws it
   */
  complete(inputs?: () => Promise<boolean>, onFailure?: (error: unknown) => never): MaybePromise<T>;
}

/** Thrown when a call has read invalid data. */
class StaleInput {}

/**
 * Enqueues a call.
 *
 * @param releaseEarly flushes the queue and releases borrowed memory before the commands are done: for calls
 *   that use device memory only, which others reuse later in the queue
 * @throws the error of `body`
 */
export function startCall<T>(
  context: CallContext,
  body: ExecutionBody<T>,
  releaseEarly = false,
): MaybePromise<StartedCall<T>> {
  const selector = new PlanSelector(context);
  return chain(
    startAttempt(context, selector, body, releaseEarly),
    (first) => new Execution(context, selector, body, releaseEarly, first),
  );
}

/**
 * Enqueues a call and waits for it.
 *
 * @throws the error of `body`, or of `StartedCall.complete`
 */
export function executeCall<T>(context: CallContext, body: ExecutionBody<T>): MaybePromise<T> {
  const selector = new PlanSelector(context);
  return chain(startAttempt(context, selector, body, false), (first) =>
    new Execution(context, selector, body, false, first).complete(),
  );
}

/** One attempt at a call, with all commands enqueued. */
interface Attempt<T> {
  readonly call: Call;
  readonly result: () => T;
}

/**
 * Enqueues a call, and repeats that while a result is rejected during enqueueing: operations may wait in
 * between.
 */
function startAttempt<T>(
  context: CallContext,
  selector: PlanSelector,
  body: ExecutionBody<T>,
  releaseEarly: boolean,
): MaybePromise<Attempt<T>> {
  const call = new Call(context, selector);
  const onEnqueued = (result: () => T): Attempt<T> => {
    call.assertNotDetached();
    if (releaseEarly) call.flushAndRelease();
    return { call, result };
  };
  const onFailure = async (cause: unknown): Promise<Attempt<T>> => {
    const error = await call.failed(cause);
    if (!(error instanceof Refusal)) throw error;
    selector.refuse(error);
    return startAttempt(context, selector, body, releaseEarly);
  };
  return chainOrRecover(() => body(call), onEnqueued, onFailure);
}

/** An enqueued call, which is repeated if necessary. */
class Execution<T> implements StartedCall<T> {
  readonly #context: CallContext;
  readonly #selector: PlanSelector;
  readonly #body: ExecutionBody<T>;
  readonly #releaseEarly: boolean;
  #current: Attempt<T>;
  #stale = false;

  constructor(
    context: CallContext,
    selector: PlanSelector,
    body: ExecutionBody<T>,
    releaseEarly: boolean,
    first: Attempt<T>,
  ) {
    this.#context = context;
    this.#selector = selector;
    this.#body = body;
    this.#releaseEarly = releaseEarly;
    this.#current = first;
  }

  get repeated(): boolean {
    return this.#stale || this.#selector.hasRefused;
  }

  complete(inputs?: () => Promise<boolean>, onFailure?: (error: unknown) => never): MaybePromise<T> {
    const inputsDone = inputs?.();
    inputsDone?.catch(() => undefined); // reported below, once nothing is in flight
    return this.#finish(inputsDone && (async () => !this.#stale && (await inputsDone)), onFailure);
  }

  #finish(
    isStale: (() => Promise<boolean>) | undefined,
    onFailure?: (error: unknown) => never,
  ): MaybePromise<T> {
    const { call, result } = this.#current;
    const onSettled = (): T => {
      call.assertNotDetached();
      call.release();
      return result();
    };
    return chainOrRecover(
      () => call.settle(isStale),
      onSettled,
      async (cause) => {
        const error = await call.failed(cause);
        try {
          return await this.#retry(error, isStale);
        } catch (final) {
          onFailure?.(final);
          throw final;
        }
      },
    );
  }

  /**
   * Repeats the call if the error is a refusal or a stale input.
   *
   * @throws the error otherwise; MismatchError when `onMismatch` is `throw`
   */
  #retry(error: unknown, isStale: (() => Promise<boolean>) | undefined): MaybePromise<T> {
    if (error instanceof Refusal) this.#selector.refuse(error);
    else if (error instanceof StaleInput) this.#stale = true;
    else throw error;
    return chain(startAttempt(this.#context, this.#selector, this.#body, this.#releaseEarly), (next) => {
      this.#current = next;
      return this.#finish(isStale);
    });
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
  readonly #selector: PlanSelector;
  readonly #sorts: { readonly plan: Plan; readonly pending: PendingSort; report(outcome: Outcome): void }[] =
    [];
  readonly #pendingSorts: PendingSort[] = [];
  /** Caller's memory that the call reads and writes. */
  readonly #spans: Span[] = [];
  /** Verdicts to evaluate after the wait. */
  readonly #findings: DeferredVerdict[] = [];
  /** Number of keys of the largest sort. */
  #maxKeys = 0;
  /** Whether commands were enqueued that have not been waited for. */
  #inFlight = false;

  constructor(context: CallContext, selector: PlanSelector) {
    this.#context = context;
    this.#selector = selector;
    this.settings = context.settings;
    this.columns = context.backend.columns(context.settings);
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
   */
  sort(sort: Sort): MaybePromise<void> {
    const job = this.#jobOf(sort);
    const { keys, settings } = job;
    const started = performance.now();
    throwIfAborted(settings.signal);
    settings.onProgress?.({ phase: 'sort', done: 0, total: keys.n });
    const report = (outcome: Outcome): void => this.#report(job, started, outcome);
    addSpans(job, this.#spans);
    assertNotDetached(this.#spans);
    const host = hostJob(job);
    if (host) return chain(this.#sortFitting(job, host), report);
    this.#inFlight = true;
    return chain(this.#enqueue(job, requestOf(job)), ({ plan, pending }) => {
      this.#sorts.push({ plan, pending, report });
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
    settings.onReport?.(reportOf({ n, dtype, started, outcome, info: this.#context.backend.info }));
  }

  /**
   * Verifies a result if `verify` is set. There is no fallback: `settle` throws if the result is wrong.
   *
   * @param make enqueues the verification of device memory, before that is copied elsewhere
   */
  verify(make: (verifier: ColumnVerifier) => Promise<DeferredVerdict>): MaybePromise<void> {
    if (!this.settings.verify) return undefined;
    this.#inFlight = true;
    return make(this.columns.verifier).then((findings) => {
      this.#findings.push(findings);
    });
  }

  /** Returns whether a plan for this sort is left. A plan that does not work is reported as a warning. */
  async canSort({ settings: own, ...rest }: Sort): Promise<boolean> {
    const settings = { ...this.settings, ...own };
    try {
      return (await this.#selector.firstUsable(requestOf({ ...rest, settings }), settings)) !== undefined;
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
  settle(isStale?: () => Promise<boolean>): MaybePromise<void> {
    return chain(this.#inFlight ? this.columns.finish() : undefined, () => {
      this.#inFlight = false;
      const needsCheck = isStale !== undefined || this.settings.verify;
      return needsCheck || this.#sorts.length > 0 || this.#findings.length > 0
        ? this.#checkResults(isStale)
        : undefined;
    });
  }

  /** The part of `settle` after the wait. */
  #checkResults(isStale?: () => Promise<boolean>): MaybePromise<void> {
    return chain(isStale?.(), (stale) => {
      if (stale) throw new StaleInput();
      const reports: (() => void)[] = [];
      return chain(this.#checkSorts(reports), () =>
        chain(this.settings.verify ? this.columns.check() : undefined, () => {
          this.#checkFindings();
          for (const report of reports) report();
        }),
      );
    });
  }

  /**
   * Checks the outcome of each sort.
   *
   * @param reports receives the reports to send when all sorts are valid
   * @throws Refusal when a result is rejected
   */
  #checkSorts(reports: (() => void)[]): MaybePromise<void> {
    const next = this.#sorts.shift();
    if (!next) return undefined;
    return chain(acceptedOutcome(next.plan, next.pending), (outcome) => {
      reports.push(() => next.report(outcome));
      return this.#checkSorts(reports);
    });
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
  #sortFitting(job: SortJob, host: HostJob): MaybePromise<Outcome> {
    const request = requestOf(job);
    if (job.segments) return this.#sortWhole(job, request); // chunks would cut segments
    const limit = this.#context.backend.chunkLimit(request);
    const chunk = Math.min(job.settings.tuning.chunk ?? Number.POSITIVE_INFINITY, limit);
    return this.#sortChunked(job, host, request, chunk);
  }

  /** Sorts in chunks of `chunk` keys, halved after each memory error. */
  #sortChunked(job: SortJob, host: HostJob, request: PlanRequest, chunk: number): MaybePromise<Outcome> {
    const { n } = job.keys;
    return recover(
      () => (chunk >= n ? this.#sortUnchunked(job, host, request) : this.#sortInChunks(host, chunk)),
      async (error) => {
        const next = Math.ceil(Math.min(chunk, n) / 2);
        if (!(error instanceof MemoryError) || next < MIN_CHUNK_KEYS) throw error;
        await this.columns.finish().catch(() => undefined); // reported below
        this.#context.backend.memory.trim();
        const message = `${error.message}; continuing with chunks of ${next} keys`;
        this.#warn(new MemoryError(message, { cause: error }));
        return this.#sortChunked(job, host, request, next);
      },
    );
  }

  /** Sorts as a whole, or in parts during the transfers if the backend prefers that. */
  #sortUnchunked(job: SortJob, host: HostJob, request: PlanRequest): MaybePromise<Outcome> {
    const parts = this.#context.backend.partCount(host);
    if (parts < 2) return this.#sortWhole(job, request);
    return this.#sortInParts(host, parts).then((made) => made ?? this.#sortWhole(job, request));
  }

  /**
   * Sorts as a whole and waits for it.
   *
   * @throws Refusal when the result is rejected
   */
  #sortWhole(job: SortJob, request: PlanRequest): MaybePromise<Outcome> {
    return chain(this.#enqueue(job, request), (enqueued) => this.#waitFor(enqueued));
  }

  #waitFor({ plan, pending }: { plan: Plan; pending: PendingSort }): MaybePromise<Outcome> {
    return chainOrRecover(
      () => this.columns.finish(),
      () =>
        chain(acceptedOutcome(plan, pending), (outcome) => {
          pending.release();
          return outcome;
        }),
      async (error) => {
        if (!(error instanceof TimeoutError)) await this.columns.finish().catch(() => undefined);
        pending.release();
        throw error;
      },
    );
  }

  /** @returns undefined if it failed in a way in which a whole sort may succeed */
  async #sortInParts(host: HostJob, parts: number): Promise<Outcome | undefined> {
    const n = Math.ceil(host.keys.n / parts);
    const plan = await this.#selector.firstUsable({ ...requestOf(sortJob(host)), n }, host.settings);
    return plan && this.#context.backend.sortInParts(plan, host);
  }

  async #sortInChunks(host: HostJob, chunk: number): Promise<Outcome> {
    const { keys, settings } = host;
    const outcomes: Outcome[] = [];
    const chunks = Math.ceil(keys.n / chunk);
    // Verifying each chunk would not verify the merged result.
    const { onProgress: _, onReport, ...own } = { ...settings, verify: false };
    await sortInChunks(host, chunk, async (part) => {
      throwIfAborted(settings.signal);
      const context = {
        ...this.#context,
        settings: { ...own, ...(onReport && { onReport: () => undefined }) },
      };
      const sort: ExecutionBody<Outcome> = async (call) => {
        const piece = sortJob({ ...part, settings: context.settings });
        const outcome = await call.#sortWhole(piece, requestOf(piece));
        return () => outcome;
      };
      outcomes.push(await (await startCall(context, sort)).complete());
      const done = Math.floor((keys.n * outcomes.length) / (2 * chunks)); // each chunk is sorted once and merged once
      settings.onProgress?.({ phase: 'sort', done, total: keys.n });
    });
    const [first] = outcomes;
    if (!first) throw new UnsupportedError('cannot sort in chunks: there are no keys');
    const verified = settings.verify ? await verifyOnHost(host, 'the sort in chunks') : undefined;
    const stages = outcomes.flatMap((outcome) => outcome.stages);
    return { plan: first.plan, stages, chunks, ...(verified && { verified }) };
  }

  /** Enqueues a sort with the best plan left, or on the host engine if there is none. */
  #enqueue(job: SortJob, request: PlanRequest): MaybePromise<{ plan: Plan; pending: PendingSort }> {
    return chain(this.#selector.plan(request, job.settings), (plan) => {
      this.#maxKeys = Math.max(this.#maxKeys, request.n);
      return chain(this.#context.backend.sort(plan, job), (pending) => {
        this.#pendingSorts.push(pending);
        return { plan, pending };
      });
    });
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
const acceptedOutcome = (plan: Plan, pending: PendingSort): MaybePromise<Outcome> =>
  chain(pending.outcome(), (outcome) => {
    if (typeof outcome === 'string') throw new Refusal(plan, outcome);
    return outcome;
  });

/** Returns the settings of a sort within a call. Its progress is not the progress of the call. */
function settingsOf({ onProgress: _, ...shared }: SortSettings, own?: Partial<SortSettings>): SortSettings {
  return { ...shared, ...own };
}
