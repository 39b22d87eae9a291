/**
 * A value that is there, or the promise of one: of what seldom has to wait. Each promise and each turn of the queue of
 * microtasks costs a good part of a microsecond, and a small call on a device takes no more than a few.
 */
export type MaybePromise<T> = T | Promise<T>;

/** Goes on with a value: at once, where it is there. */
export function chain<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Runs `use`; what it throws, or its promise is rejected with, goes to `failed`. */
export function recover<T>(
  run: () => MaybePromise<T>,
  onError: (error: unknown) => MaybePromise<T>,
): MaybePromise<T> {
  try {
    const result = run();
    return result instanceof Promise ? result.catch(onError) : result;
  } catch (error) {
    return onError(error);
  }
}

/**
 * Runs `use` and goes on with what it gives; what either throws, or its promise is rejected with, goes to `failed`. As `rescued`
 * around `after`, with one promise instead of two.
 */
export function chainOrRecover<T, R>(
  run: () => MaybePromise<T>,
  next: (value: T) => MaybePromise<R>,
  onError: (error: unknown) => MaybePromise<R>,
): MaybePromise<R> {
  let value: MaybePromise<T>;
  try {
    value = run();
  } catch (error) {
    return onError(error);
  }
  if (!(value instanceof Promise)) return continueWith(value, next, onError);
  return value.then((made) => continueWith(made, next, onError), onError);
}

function continueWith<T, R>(
  value: T,
  next: (value: T) => MaybePromise<R>,
  onError: (error: unknown) => MaybePromise<R>,
): MaybePromise<R> {
  try {
    const result = next(value);
    return result instanceof Promise ? result.catch(onError) : result;
  } catch (error) {
    return onError(error);
  }
}

/** Runs `use`, and `end` when that is over, however it went. */
export function finallyDo<T>(run: () => MaybePromise<T>, cleanUp: () => void): MaybePromise<T> {
  let result: MaybePromise<T>;
  try {
    result = run();
  } catch (error) {
    cleanUp();
    throw error;
  }
  if (!(result instanceof Promise)) {
    cleanUp();
    return result;
  }
  // Instead of `finally`, which makes four promises.
  return result.then(
    (value) => {
      cleanUp();
      return value;
    },
    (error) => {
      cleanUp();
      throw error;
    },
  );
}

/** The promise of a value, and of what `make` throws. */
export function toPromise<T>(run: () => MaybePromise<T>): Promise<T> {
  try {
    const result = run();
    return result instanceof Promise ? result : Promise.resolve(result);
  } catch (error) {
    return Promise.reject(error);
  }
}
