/**
 * A value, or the promise of one, on the synchronous path of a call (`Execution.enqueue`). Each promise and each
 * microtask costs a good part of a microsecond, while a small call on a device takes only a few.
 */
export type MaybePromise<T> = T | Promise<T>;

/** Calls `next` with a value, synchronously if it is not a promise. */
export function chain<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
