import { InputError } from '../../util/errors.js';
import { type MaybePromise, recover } from '../../util/maybe-promise.js';
import { DeviceArray } from '../model/device-array.js';

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

  /**
   * Runs one half of the call. A failure is recorded before other calls get their turn.
   *
   * @returns the result of `step`
   */
  runStep<T>(step: () => MaybePromise<T>): MaybePromise<T> {
    return recover(step, (error) => this.recordFailure(error));
  }

  /**
   * Records that the call has failed.
   *
   * @throws the error
   */
  recordFailure(error: unknown): never {
    this.failure = { error };
    throw error;
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
