import { ConcurrencyLimiter } from '../../util/concurrency-limiter.js';
import { InputError, UsageError } from '../../util/errors.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import type { CallContext } from '../backend/backend.js';
import { DeviceArray } from '../model/device-array.js';
import { Call, type ExecutionBody, type Repeatable, StaleInput } from './call.js';
import { PlanSelector, Refusal } from './plan-selector.js';
import { MAX_CALLS, MAX_KEYS } from './policy.js';

/** Orders calls: each one begins when the calls before it have enqueued all their commands, or are done. */
export class CallScheduler {
  /** Settles when the last call in the order has enqueued its commands. */
  #tail: Promise<unknown> = Promise.resolve();
  /** Number of calls that are enqueuing, or that wait to do so. */
  #queued = 0;
  /** Calls that are not done, including those that wait for their turn. */
  readonly #active = new Set<Promise<unknown>>();
  /** Those that came after the last exclusive call. The next exclusive call waits for that one and for these. */
  readonly #sinceExclusive = new Set<Promise<unknown>>();
  /** Work for later calls, such as compilations. */
  readonly #inBackground = new Set<Promise<unknown>>();
  /** Work that runs independently of all calls. */
  readonly #runIndependently = new Set<Promise<unknown>>();
  #closed = false;
  readonly #concurrent = new ConcurrencyLimiter(MAX_KEYS, MAX_CALLS);

  /** Whether nothing is running or waiting. */
  get isIdle(): boolean {
    return this.#active.size === 0 && this.#inBackground.size === 0 && this.#runIndependently.size === 0;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /**
   * Checks that the scheduler is open.
   *
   * @throws UsageError after `close()`
   */
  assertOpen(): void {
    if (this.#closed) throw new UsageError('cannot use this Sorter: it is closed. Open another one');
  }

  /** Runs `use` alone, after all earlier calls are done. */
  async runExclusive<T>(use: () => MaybePromise<T>): Promise<T> {
    this.assertOpen();
    const before = [...this.#sinceExclusive];
    this.#sinceExclusive.clear();
    const done = this.#tail.then(() => Promise.all(before)).then(use);
    this.#occupy(done);
    return track(done, this.#active);
  }

  /**
   * Runs a call in two halves. Only the first half, `enqueue`, occupies the order; the next call does not
   * wait for the second one. In an in-order queue, commands of the next call still run later. If no call is
   * enqueuing, the first half runs at once.
   *
   * @param enqueue returns undefined if the first half is done
   * @param complete waits for the commands that `enqueue` has enqueued
   */
  runInOrder<T>(enqueue: () => Promise<void> | undefined, complete: () => Promise<T>): Promise<T> {
    let enqueued: Promise<void> | undefined;
    try {
      this.assertOpen();
      enqueued = this.#queued > 0 ? this.#tail.then(enqueue) : enqueue();
    } catch (error) {
      return Promise.reject(error);
    }
    if (enqueued) this.#occupy(enqueued);
    return track(enqueued ? enqueued.then(complete) : complete(), this.#active, this.#sinceExclusive);
  }

  /**
   * Runs a call of n keys that uses host memory only, concurrently with similar calls and with later ones. It
   * runs at once if no call is enqueuing and the limits on concurrent calls and keys allow it.
   */
  runConcurrently<T>(n: number, use: () => MaybePromise<T>): Promise<T> {
    const run = async (): Promise<T> => {
      this.assertOpen();
      if (this.#queued > 0) await this.#tail;
      return await this.#concurrent.run(n, use);
    };
    return track(run(), this.#active, this.#sinceExclusive);
  }

  /** Runs `use` at once. Exclusive calls wait for it; `close` does not, so it must not use a closed device. */
  async runInBackground<T>(use: () => Promise<T>): Promise<T> {
    this.assertOpen();
    return track(use(), this.#inBackground, this.#sinceExclusive);
  }

  /** Runs `use` at once. It must use only memory that no call knows of, and no call waits for it. */
  async runIndependently<T>(use: () => Promise<T>): Promise<T> {
    this.assertOpen();
    return track(use(), this.#runIndependently);
  }

  /** Waits for everything that was started or queued so far. */
  async waitForAll(): Promise<void> {
    await Promise.all([...this.#active, ...this.#runIndependently]);
  }

  /** Rejects new calls and waits for those that are pending. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.waitForAll();
  }

  /** Makes later calls wait until this one settles. */
  #occupy(call: Promise<unknown>): void {
    this.#queued++;
    const end = () => {
      this.#queued--;
    };
    this.#tail = call.then(end, end);
  }
}

/** Keeps a call in sets until it settles. */
function track<T>(call: Promise<T>, ...sets: readonly Set<Promise<unknown>>[]): Promise<T> {
  const end = () => {
    for (const set of sets) set.delete(done);
  };
  const done: Promise<unknown> = call.then(end, end);
  for (const set of sets) set.add(done);
  return call;
}

/** State of a call that other calls can use before it is done, when they take its result as an input. */
export class Dependency {
  /** Array that the promise of the call resolves to, if it is already known. */
  result: DeviceArray | undefined;
  /** Set when the call has failed. */
  failure: { readonly error: unknown } | undefined;
  /** Settles when the call is done. */
  done: Promise<unknown> | undefined;

  /** The started call, until it is done. */
  #started: { readonly repeated: boolean } | undefined;
  #wasRepeated = false;
  #inputs: Dependency[] | undefined;
  #arrays: Map<unknown, unknown> | undefined;

  /** Registers a promise as an input: of a call whose result is known, or with the value it resolved to. */
  addInput(promise: PromiseLike<unknown>, source: Dependency | unknown): void {
    if (source instanceof Dependency) {
      this.#inputs ??= [];
      this.#inputs.push(source);
    }
    this.#arrays ??= new Map();
    this.#arrays.set(promise, source instanceof Dependency ? source.result : source);
  }

  /** Records what the promise of the call will resolve to. */
  setResult(result: unknown): void {
    if (result instanceof DeviceArray) this.result = result;
  }

  /** Records that all commands of the call are enqueued. */
  markEnqueued(started: { readonly repeated: boolean }): void {
    this.#started = started;
  }

  /** Whether the call was repeated. Calls that had read its result by then have read invalid data. */
  get repeated(): boolean {
    return this.#started?.repeated ?? this.#wasRepeated;
  }

  /** Whether the call takes results of calls that may be pending. */
  get hasInputs(): boolean {
    return this.#inputs !== undefined;
  }

  /** Returns the array of an input: the input itself, or the result of its promise. */
  resolveInput<K>(input: K | PromiseLike<K>): K {
    return isPromise(input) ? (this.#arrays?.get(input) as K) : input;
  }

  /**
   * Drops everything that other calls no longer need once this call is done: V8 keeps the values of a WeakMap
   * until a full collection.
   */
  release(): void {
    this.#wasRepeated = this.repeated;
    this.#started = undefined;
    this.done = undefined;
    this.#inputs = undefined;
    this.#arrays = undefined;
  }

  /** Records that the call has failed, before other calls get their turn. @returns the error */
  recordFailure(error: unknown): unknown {
    this.failure = { error };
    return error;
  }

  /**
   * Checks the calls whose results this call takes.
   *
   * @throws InputError when one of them has already failed
   */
  assertInputs(): void {
    for (const { failure } of this.#inputs ?? []) if (failure) throw failedInputError(failure.error);
  }

  /**
   * Waits for the calls whose results this call takes.
   *
   * @returns whether one of them was repeated
   * @throws InputError when one of them has failed
   */
  async waitForInputs(): Promise<boolean> {
    let repeated = false;
    for (const input of this.#inputs ?? []) {
      await input.done?.catch(() => undefined); // reported by `assertInputs` below
      repeated ||= input.repeated;
    }
    this.assertInputs();
    return repeated;
  }
}

export const isPromise = (input: unknown): input is PromiseLike<unknown> =>
  typeof (input as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';

/** Returns the error of a call whose input is a rejected promise. */
export function failedInputError(cause: unknown): InputError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new InputError(`cannot use an input: the call that computes it failed (${message})`, { cause });
}

/** A call under way, which is repeated if necessary. */
export class Execution<T> implements Repeatable {
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

  runPart<P>(context: CallContext, body: ExecutionBody<P>): Promise<P> {
    return Execution.run(context, body);
  }

  /** Whether the call was repeated because a result was rejected. Calls that read its results must also be repeated. */
  get repeated(): boolean {
    return this.#stale || this.hasRefused;
  }

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
