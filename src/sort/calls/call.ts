import {
  type ClsortError,
  DeviceLostError,
  MemoryError,
  MismatchError,
  TimeoutError,
  UnsupportedError,
} from '../../util/errors.js';
import { chain, chainOrRecover, type MaybePromise, recover } from '../../util/maybe-promise.js';
import { type SortSettings, throwIfAborted } from '../api/options.js';
import { reportOf } from '../api/report.js';
import type { Backend, Outcome, PendingSort } from '../backend/backend.js';
import { byteLengthOf, type Column, isOnDevice } from '../backend/column.js';
import type { Columns } from '../backend/columns.js';
import { verifyOnHost } from '../backend/host-backend.js';
import { type HostJob, hostJob, requestOf, type SortJob, sortJob } from '../backend/job.js';
import type { Plan, PlanRequest } from '../backend/plan.js';
import type { ColumnVerifier, DeferredVerdict } from '../operations/column-verifier.js';
import { addSpans, assertNotDetached, detachErrorOr, type Span } from './assert-not-detached.js';
import type { BackgroundCompiler } from './background-compiler.js';
import { PlanSelector, Refusal } from './plan-selector.js';
import { sortInChunks } from './sort-in-chunks.js';

/** Chunks are not made smaller than this for want of memory: a device that has not even that is broken. */
const MIN_CHUNK_KEYS = 4096;

/** What a call is made with. */
export interface CallContext {
  readonly backend: Backend;
  readonly settings: SortSettings;
  /** Gets warnings when the settings name nobody. */
  readonly onWarning: (warning: ClsortError) => void;
  /** Compiles what nobody waits for; left out where there is no time for it. */
  readonly compiler?: Pick<BackgroundCompiler, 'prepare'>;
}

/** A sort within a call, as an operation asks for it. */
export type Sort = Omit<SortJob, 'settings'> & { readonly settings?: Partial<SortSettings> };

/** Enqueues a call, without waiting where all that it needs is there. @returns its result, to be asked after the wait */
export type ExecutionBody<T> = (call: Call) => MaybePromise<() => T>;

/** A call of which all is enqueued. */
export interface StartedCall<T> {
  /** Was it made once more, since a result could not be used? What read its results is to be made again then. */
  readonly repeated: boolean;
  /**
   * Waits, checks, and does it all another way where a result must not be used.
   *
   * @param inputs waits for what the call reads: was that made once more, after this call had read it?
   * @param onFailure hears of a failure before anybody else, and throws it
   */
  complete(inputs?: () => Promise<boolean>, onFailure?: (error: unknown) => never): MaybePromise<T>;
}

/** Says that a call has read what must not be used. */
class StaleInput {}

/**
 * Enqueues a call.
 *
 * @param releaseEarly has the device start, and gives back what the commands have borrowed before they are done: for calls that
 *   use nothing but memory of the device, which others get later in the queue
 * @throws what `use` throws
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

/** Makes a call, and waits for it. @throws what `use` throws; as `Started.complete` */
export function executeCall<T>(context: CallContext, body: ExecutionBody<T>): MaybePromise<T> {
  const selector = new PlanSelector(context);
  return chain(startAttempt(context, selector, body, false), (first) =>
    new Execution(context, selector, body, false, first).complete(),
  );
}

/** A go at a call of which all is enqueued. */
interface Attempt<T> {
  readonly call: Call;
  readonly result: () => T;
}

/** Enqueues a call until no result is refused while it is being made: operations may wait in between. */
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

/** A call that is enqueued, and is made once more if need be. */
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
    inputsDone?.catch(() => undefined); // told below, when nothing is in flight any more
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

  /** Makes the call once more, where that is what an error says. @throws the error; MismatchError */
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
 * One go at a call: an operation enqueues its sorts and steps with it, and `settle` waits for them and decides
 * whether what they made may be used. It runs alike on a device and on the host; only the backend differs.
 */
export class Call {
  readonly columns: Columns;
  readonly settings: SortSettings;
  readonly #context: CallContext;
  readonly #selector: PlanSelector;
  readonly #sorts: { readonly plan: Plan; readonly pending: PendingSort; report(outcome: Outcome): void }[] =
    [];
  readonly #pendingSorts: PendingSort[] = [];
  /** Memory of the caller that the call reads and writes. */
  readonly #spans: Span[] = [];
  /** What is asked after the wait. */
  readonly #findings: DeferredVerdict[] = [];
  /** Keys of the largest sort. */
  #maxKeys = 0;
  /** Something was enqueued that nobody has waited for. */
  #inFlight = false;

  constructor(context: CallContext, selector: PlanSelector) {
    this.#context = context;
    this.#selector = selector;
    this.settings = context.settings;
    this.columns = context.backend.columns(context.settings);
  }

  /** The column where steps can read it. @throws InputError when its memory has gone; MemoryError */
  bindInput(from: Column): MaybePromise<Column> {
    this.#trackSpan(from);
    this.#inFlight = true;
    return this.columns.bindInput(from);
  }

  /** Lets `write` fill a column where steps can, and brings the result to where `to` is. */
  bindOutput(to: Column, write: (to: Column) => MaybePromise<void>): MaybePromise<void> {
    this.#trackSpan(to);
    this.#inFlight = true;
    return this.columns.bindOutput(to, write);
  }

  /** Copies as many keys as `to` has from the front of `from`, a temporary column. */
  copy(from: Column, to: Column): Promise<void> {
    this.#trackSpan(to);
    this.#inFlight = true;
    return this.columns.copy(from, to);
  }

  /**
   * Does in host memory what the backend cannot do, and says why in a warning.
   *
   * @param limitation what it cannot do, and what it would need
   */
  fallBackToHost(limitation: string, keys: Column): ReturnType<Columns['copyToHost']> {
    const { info } = this.#context.backend;
    this.#warn(new UnsupportedError(`${limitation}, which ${info?.name} does not have: the host makes them`));
    return this.columns.copyToHost(keys);
  }

  /**
   * Sorts, by the settings of the call unless its own say otherwise. What is all in host memory is sorted when
   * this returns; else `settle` waits for it.
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

  /** Tells whoever asked how a sort went. @throws AbortedError */
  #report({ keys: { n, dtype }, settings }: SortJob, started: number, outcome: Outcome): void {
    throwIfAborted(settings.signal);
    settings.onProgress?.({ phase: 'sort', done: n, total: n });
    settings.onReport?.(reportOf({ n, dtype, started, outcome, info: this.#context.backend.info }));
  }

  /**
   * Has a result checked, if that is wanted: `settle` throws what is wrong. There is no other way to make it.
   *
   * @param make enqueues a check of what the device holds, before that is copied elsewhere
   */
  verify(make: (verifier: ColumnVerifier) => Promise<DeferredVerdict>): MaybePromise<void> {
    if (!this.settings.verify) return undefined;
    this.#inFlight = true;
    return make(this.columns.verifier).then((findings) => {
      this.#findings.push(findings);
    });
  }

  /** Is there a way to make this sort that was not refused? One that does not work is told in a warning. */
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
   * Waits for what was enqueued so far, and checks it.
   *
   * @param isStale tells whether what was read must not be used
   * @throws Refusal when it must be made another way; Stale; MismatchError for a result of no sort that is wrong
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

  /** As `settle`, after the wait. */
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

  /** Asks how each sort went. @param reports gets what is to be told of them when all is well @throws Refusal */
  #checkSorts(reports: (() => void)[]): MaybePromise<void> {
    const next = this.#sorts.shift();
    if (!next) return undefined;
    return chain(acceptedOutcome(next.plan, next.pending), (outcome) => {
      reports.push(() => next.report(outcome));
      return this.#checkSorts(reports);
    });
  }

  /** Asks what was found to be wrong with results. @throws MismatchError */
  #checkFindings(): void {
    for (const findings of this.#findings.splice(0)) {
      const wrong = findings();
      if (wrong === undefined) continue;
      const engineName = this.#context.backend.info?.name ?? 'the host engine';
      throw new MismatchError(`${engineName} made a wrong result, which is not used: ${wrong}`);
    }
  }

  /** @throws InputError when memory of the host that the call works on has gone */
  assertNotDetached(): void {
    assertNotDetached(this.#spans);
  }

  /** Has the device start with what is enqueued, and gives everything back. */
  flushAndRelease(): void {
    this.columns.flush();
    this.release();
  }

  /** Gives everything back when nothing uses it any more. @returns what the call has failed of */
  async failed(cause: unknown): Promise<unknown> {
    const error = detachErrorOr(this.#spans, cause);
    // Commands in flight may still write to host memory that the caller gets back; a device that hangs is given up.
    if (!(error instanceof TimeoutError)) await this.columns.finish().catch(() => undefined);
    this.release();
    return error instanceof MemoryError ? this.#classifyMemoryError(error) : error;
  }

  /** Gives back what was borrowed. May be called twice. */
  release(): void {
    for (const pending of this.#pendingSorts.splice(0)) pending.release();
    this.columns.release();
  }

  /** Sorts whole, or in chunks of half the size as often as memory does not suffice. */
  #sortFitting(job: SortJob, host: HostJob): MaybePromise<Outcome> {
    const request = requestOf(job);
    if (job.segments) return this.#sortWhole(job, request); // chunks would cut them
    const limit = this.#context.backend.chunkLimit(request);
    const chunk = Math.min(job.settings.tuning.chunk ?? Number.POSITIVE_INFINITY, limit);
    return this.#sortChunked(job, host, request, chunk);
  }

  /** Sorts in chunks of so many keys, or of half the size as often as memory does not suffice. */
  #sortChunked(job: SortJob, host: HostJob, request: PlanRequest, chunk: number): MaybePromise<Outcome> {
    const { n } = job.keys;
    return recover(
      () => (chunk >= n ? this.#sortUnchunked(job, host, request) : this.#sortInChunks(host, chunk)),
      async (error) => {
        const next = Math.ceil(Math.min(chunk, n) / 2);
        if (!(error instanceof MemoryError) || next < MIN_CHUNK_KEYS) throw error;
        await this.columns.finish().catch(() => undefined); // told below
        this.#context.backend.memory.trim();
        const message = `${error.message}; going on with chunks of ${next} keys`;
        this.#warn(new MemoryError(message, { cause: error }));
        return this.#sortChunked(job, host, request, next);
      },
    );
  }

  /** Sorts as a whole, in parts while the data are on the way where that is something for the job. */
  #sortUnchunked(job: SortJob, host: HostJob, request: PlanRequest): MaybePromise<Outcome> {
    const parts = this.#context.backend.partCount(host);
    if (parts < 2) return this.#sortWhole(job, request);
    return this.#sortInParts(host, parts).then((made) => made ?? this.#sortWhole(job, request));
  }

  /** Sorts as a whole, and waits for it. @throws Refusal */
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

  /** @returns undefined where it went wrong in a way that a sort as a whole may not */
  async #sortInParts(host: HostJob, parts: number): Promise<Outcome | undefined> {
    const n = Math.ceil(host.keys.n / parts);
    const plan = await this.#selector.firstUsable({ ...requestOf(sortJob(host)), n }, host.settings);
    return plan && this.#context.backend.sortInParts(plan, host);
  }

  async #sortInChunks(host: HostJob, chunk: number): Promise<Outcome> {
    const { keys, settings } = host;
    const outcomes: Outcome[] = [];
    const chunks = Math.ceil(keys.n / chunk);
    // Chunks that were each verified would not prove the whole.
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
      const done = Math.floor((keys.n * outcomes.length) / (2 * chunks)); // each is sorted and merged
      settings.onProgress?.({ phase: 'sort', done, total: keys.n });
    });
    const [first] = outcomes;
    if (!first) throw new UnsupportedError('a sort in chunks of nothing');
    const verified = settings.verify ? await verifyOnHost(host, 'the sort in chunks') : undefined;
    const stages = outcomes.flatMap((outcome) => outcome.stages);
    return { plan: first.plan, stages, chunks, ...(verified && { verified }) };
  }

  /** Enqueues a sort by the best plan that is left, by the host engine when there is none. */
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
    return new DeviceLostError(`the device fails even for a few keys: ${error.message}`, { cause: error });
  }
}

/** After the wait: how a sort went. @throws Refusal */
const acceptedOutcome = (plan: Plan, pending: PendingSort): MaybePromise<Outcome> =>
  chain(pending.outcome(), (outcome) => {
    if (typeof outcome === 'string') throw new Refusal(plan, outcome);
    return outcome;
  });

/** The settings of a sort within a call, whose progress is not that of the call. */
function settingsOf({ onProgress: _, ...shared }: SortSettings, own?: Partial<SortSettings>): SortSettings {
  return { ...shared, ...own };
}
