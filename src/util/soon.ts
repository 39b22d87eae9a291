/**
 * A value that is there, or the promise of one: of what seldom has to wait. Each promise and each turn of the queue of
 * microtasks costs a good part of a microsecond, and a small call on a device takes no more than a few.
 */
export type Soon<T> = T | Promise<T>;

/** Goes on with a value: at once, where it is there. */
export function after<T, R>(value: Soon<T>, next: (value: T) => Soon<R>): Soon<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Runs `use`; what it throws, or its promise is rejected with, goes to `failed`. */
export function rescued<T>(use: () => Soon<T>, failed: (error: unknown) => Soon<T>): Soon<T> {
  try {
    const result = use();
    return result instanceof Promise ? result.catch(failed) : result;
  } catch (error) {
    return failed(error);
  }
}

/**
 * Runs `use` and goes on with what it gives; what either throws, or its promise is rejected with, goes to `failed`. As `rescued`
 * around `after`, with one promise instead of two.
 */
export function guarded<T, R>(
  use: () => Soon<T>,
  next: (value: T) => Soon<R>,
  failed: (error: unknown) => Soon<R>,
): Soon<R> {
  let value: Soon<T>;
  try {
    value = use();
  } catch (error) {
    return failed(error);
  }
  if (!(value instanceof Promise)) return goOn(value, next, failed);
  return value.then((made) => goOn(made, next, failed), failed);
}

function goOn<T, R>(value: T, next: (value: T) => Soon<R>, failed: (error: unknown) => Soon<R>): Soon<R> {
  try {
    const result = next(value);
    return result instanceof Promise ? result.catch(failed) : result;
  } catch (error) {
    return failed(error);
  }
}

/** Runs `use`, and `end` when that is over, however it went. */
export function ended<T>(use: () => Soon<T>, end: () => void): Soon<T> {
  let result: Soon<T>;
  try {
    result = use();
  } catch (error) {
    end();
    throw error;
  }
  if (!(result instanceof Promise)) {
    end();
    return result;
  }
  // Instead of `finally`, which makes four promises.
  return result.then(
    (value) => {
      end();
      return value;
    },
    (error) => {
      end();
      throw error;
    },
  );
}

/** The promise of a value, and of what `make` throws. */
export function promised<T>(make: () => Soon<T>): Promise<T> {
  try {
    const result = make();
    return result instanceof Promise ? result : Promise.resolve(result);
  } catch (error) {
    return Promise.reject(error);
  }
}
