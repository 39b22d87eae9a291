/**
 * A value, or the promise of one, for results that are seldom delayed. Each promise and each microtask costs a good
 * part of a microsecond, while a small call on a device takes only a few.
 */
export type MaybePromise<T> = T | Promise<T>;

/** Calls `next` with a value, synchronously if it is not a promise. */
export function chain<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Runs `run`. `onError` handles its exceptions and rejections. */
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
 * Runs `run`, then `next` with its result. `onError` handles the exceptions and rejections of both. Equivalent to
 * `recover` around `chain`, with one promise instead of two.
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

/** Runs `run`, then `cleanUp`, after success and after failure. */
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
  // Instead of `finally`, which creates four promises.
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

/** Runs `run` and returns a promise of its result. An exception becomes a rejection. */
export function toPromise<T>(run: () => MaybePromise<T>): Promise<T> {
  try {
    const result = run();
    return result instanceof Promise ? result : Promise.resolve(result);
  } catch (error) {
    return Promise.reject(error);
  }
}
