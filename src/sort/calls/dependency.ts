import { InputError } from '../../util/errors.js';
import { type MaybePromise, recover } from '../../util/maybe-promise.js';
import { DeviceArray } from '../api/device-array.js';

/** What is known of a call before it is done, for calls that take its result. */
export class Dependency {
  /** The array that its promise resolves to, where that is known already. */
  result: DeviceArray | undefined;
  /** It has failed. */
  failure: { readonly error: unknown } | undefined;
  /** Settles when the call is done. */
  done: Promise<unknown> | undefined;

  /** What is under way of it. */
  #started: { readonly repeated: boolean } | undefined;
  #wasRepeated = false;
  #inputs: Dependency[] | undefined;
  #arrays: Map<unknown, unknown> | undefined;

  /** Takes a promise as an input: of a call whose result is known, or of what it has come to. */
  addInput(promise: PromiseLike<unknown>, source: Dependency | unknown): void {
    if (source instanceof Dependency) {
      this.#inputs ??= [];
      this.#inputs.push(source);
    }
    this.#arrays ??= new Map();
    this.#arrays.set(promise, source instanceof Dependency ? source.result : source);
  }

  /** Tells what the promise of the call will resolve to. */
  setResult(result: unknown): void {
    if (result instanceof DeviceArray) this.result = result;
  }

  /** Notes that all of it is enqueued. */
  markEnqueued(started: { readonly repeated: boolean }): void {
    this.#started = started;
  }

  /** Was it made once more? What read its result by then has read what must not be used. */
  get repeated(): boolean {
    return this.#started?.repeated ?? this.#wasRepeated;
  }

  /** Does it take results of calls that may not be done? */
  get hasInputs(): boolean {
    return this.#inputs !== undefined;
  }

  /** An input as it is, or what its promise stands for. */
  resolveInput<K>(input: K | PromiseLike<K>): K {
    return isPromise(input) ? (this.#arrays?.get(input) as K) : input;
  }

  /**
   * Lets go of all but what others may still ask for, when the call is done: V8 keeps what a WeakMap holds until it looks at all of
   * its memory.
   */
  release(): void {
    this.#wasRepeated = this.repeated;
    this.#started = undefined;
    this.done = undefined;
    this.#inputs = undefined;
    this.#arrays = undefined;
  }

  /** Runs a half of the call, and notes that it failed before others have their turn. */
  runStep<T>(step: () => MaybePromise<T>): MaybePromise<T> {
    return recover(step, (error) => this.recordFailure(error));
  }

  /** Notes that it failed. @throws the error */
  recordFailure(error: unknown): never {
    this.failure = { error };
    throw error;
  }

  /** @throws InputError when a call whose result this one takes has failed by now */
  assertInputs(): void {
    for (const { failure } of this.#inputs ?? []) if (failure) throw failedInputError(failure.error);
  }

  /**
   * Waits for the calls whose results this one takes.
   *
   * @returns whether one of them was made once more
   * @throws InputError when one of them has failed
   */
  async waitForInputs(): Promise<boolean> {
    let repeated = false;
    for (const input of this.#inputs ?? []) {
      await input.done?.catch(() => undefined); // told below
      repeated ||= input.repeated;
    }
    this.assertInputs();
    return repeated;
  }
}

export const isPromise = (input: unknown): input is PromiseLike<unknown> =>
  typeof (input as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';

/** What a call rejects with whose input is a promise that was rejected. */
export function failedInputError(cause: unknown): InputError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new InputError(`an input is the result of a call that failed: ${message}`, { cause });
}
