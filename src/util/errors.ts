/** Codes of the errors that clsort throws on purpose. */
export type ErrorCode =
  | 'ERR_CLSORT_ABORTED'
  | 'ERR_CLSORT_BUILD'
  | 'ERR_CLSORT_CACHE'
  | 'ERR_CLSORT_DEVICE_LOST'
  | 'ERR_CLSORT_DTYPE'
  | 'ERR_CLSORT_FORMAT'
  | 'ERR_CLSORT_INPUT'
  | 'ERR_CLSORT_IO'
  | 'ERR_CLSORT_MEMORY'
  | 'ERR_CLSORT_MISMATCH'
  | 'ERR_CLSORT_NO_DEVICE'
  | 'ERR_CLSORT_NO_LOADER'
  | 'ERR_CLSORT_NO_PLATFORM'
  | 'ERR_CLSORT_PACKAGE'
  | 'ERR_CLSORT_TIMEOUT'
  | 'ERR_CLSORT_UNSUPPORTED'
  | 'ERR_CLSORT_USAGE';

/** Properties of every error of clsort besides its message. */
export interface ErrorDetails {
  /** The error that led to this one. */
  cause?: unknown;
  /** Facts for programs: device name, option name, OpenCL status, build log, … */
  details?: Record<string, unknown>;
}

/**
 * Base class of all errors that clsort throws on purpose.
 *
 * The message says what happened, what was expected and received, and what to do. `code` is stable and meant for
 * programs.
 *
 * @example
 * ```ts
 * if (error instanceof ClsortError && error.code === 'ERR_CLSORT_MEMORY') sorter.trim();
 * ```
 */
export class ClsortError extends Error {
  /** Stable identifier. */
  readonly code: ErrorCode;
  /** Facts for programs; empty if there are none. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, { cause, details = {} }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.code = code;
    this.details = details;
  }
}

/**
 * An invalid call: an unknown option or an impossible combination.
 *
 * @remarks Change the call as the message says. `details.option` names the option, and the reference lists all options.
 */
export class UsageError extends ClsortError {
  constructor(message: string, details?: ErrorDetails) {
    super('ERR_CLSORT_USAGE', message, details);
  }
}
/**
 * A dtype that is unknown or does not fit the data.
 *
 * @remarks Use one of the twelve dtypes; for an array, one as wide as its elements.
 */
export class DtypeError extends ClsortError {
  constructor(message: string, details?: ErrorDetails) {
    super('ERR_CLSORT_DTYPE', message, details);
  }
}
/**
 * Input data that cannot be used: detached, overlapping or of the wrong size.
 *
 * @remarks Pass arrays that are not detached, have matching lengths and do not share memory with the result.
 */
export class InputError extends ClsortError {
  constructor(message: string, details?: ErrorDetails) {
    super('ERR_CLSORT_INPUT', message, details);
  }
}
/**
 * This machine has no OpenCL loader (libOpenCL).
 *
 * @remarks Install the loader and a driver, as the message says for your system, or sort with `device: 'host'`
 *   meanwhile.
 */
export class NoLoaderError extends ClsortError {
  constructor(message: string, details?: ErrorDetails) {
    super('ERR_CLSORT_NO_LOADER', message, details);
  }
}
/**
 * There is an OpenCL loader, but no platform (driver) is registered with it.
 *
 * @remarks Install a driver: that of the GPU's vendor, or PoCL, which makes the CPU a device. `clsort devices` lists
 *   the available devices.
 */
export class NoPlatformError extends ClsortError {
  constructor(message: string, details?: ErrorDetails) {
    super('ERR_CLSORT_NO_PLATFORM', message, details);
  }
}
/**
 * There are platforms, but no device, or none that matches the request.
 *
 * @remarks Request a device that `clsort devices` lists. Check whether the user may open the GPU (groups `render`,
 *   `video`).
 */
export class NoDeviceError extends ClsortError {
  constructor(message: string, details?: ErrorDetails) {
    super('ERR_CLSORT_NO_DEVICE', message, details);
  }
}
/**
 * An OpenCL program did not compile; `details.log` holds the build log.
 *
 * @remarks Update the driver, or use another algorithm or device. With `auto`, clsort skips the failing variant. A
 *   bug report with the log and the driver's version helps.
 */
export class BuildError extends ClsortError {
  constructor(message: string, details?: ErrorDetails) {
    super('ERR_CLSORT_BUILD', message, details);
  }
}
/**
 * Host or device memory is insufficient.
 *
 * @remarks Sort less at once, free other arrays, release pooled memory with `sorter.trim()`, or sort files with
 *   `--memory`.
 */
export class MemoryError extends ClsortError {
  constructor(message: string, details?: ErrorDetails) {
    super('ERR_CLSORT_MEMORY', message, details);
  }
}
/**
 * The device stopped responding, and its context can no longer be used.
 *
 * @remarks Repeat the call: the Sorter reopens the device. Arrays on the device are lost. If the error recurs, check
 *   the system's log for messages of the driver.
 */
export class DeviceLostError extends ClsortError {
  constructor(message: string, details?: ErrorDetails) {
    super('ERR_CLSORT_DEVICE_LOST', message, details);
  }
}
/**
 * A deadline passed while the device was working.
 *
 * @remarks Raise `timeout` (milliseconds), or do less work. The device was abandoned, and the next call reopens it.
 */
export class TimeoutError extends ClsortError {
  constructor(message: string, details?: ErrorDetails) {
    super('ERR_CLSORT_TIMEOUT', message, details);
  }
}
/**
 * Verification found that a result is not the sorted permutation of its input.
 *
 * @remarks Do not use the device for this operation: `clsort devices --self-test` and `clsort matrix` show what it gets
 *   wrong. With `onMismatch: 'retry'`, clsort sorts again in another way.
 */
export class MismatchError extends ClsortError {
  constructor(message: string, details?: ErrorDetails) {
    super('ERR_CLSORT_MISMATCH', message, details);
  }
}
/**
 * A file has a format that cannot be read or written, where raw keys were expected.
 *
 * @remarks Convert the file, or name its format with `format`. `raw` reads its bytes as keys, whatever they look like.
 */
export class FormatError extends ClsortError {
  constructor(message: string, details?: ErrorDetails) {
    super('ERR_CLSORT_FORMAT', message, details);
  }
}
/**
 * A file could not be read or written.
 *
 * @remarks See `cause`, which is the system's error: path, permissions or disk space. The output is unchanged.
 */
export class IoError extends ClsortError {
  constructor(message: string, details?: ErrorDetails) {
    super('ERR_CLSORT_IO', message, details);
  }
}
/**
 * An optional package is not installed, or cannot be used.
 *
 * @remarks Install it beside clsort, as the message says. `details.package` names it.
 */
export class PackageError extends ClsortError {
  constructor(message: string, details?: ErrorDetails) {
    super('ERR_CLSORT_PACKAGE', message, details);
  }
}
/**
 * The caller's AbortSignal fired; `cause` is its reason. Its name is `AbortError`, as in Node and browsers.
 *
 * @remarks No action is needed: the call was stopped on purpose. The input is unchanged.
 */
export class AbortedError extends ClsortError {
  override name = 'AbortError';

  constructor(message: string, details?: ErrorDetails) {
    super('ERR_CLSORT_ABORTED', message, details);
  }
}
/**
 * The cache on disk cannot be used: a warning, which is never thrown.
 *
 * @remarks Make the folder accessible only to you (mode 700), or set `CLSORT_CACHE_DIR` to another one. Sorting
 *   continues without the cache.
 */
export class CacheError extends ClsortError {
  constructor(message: string, details?: ErrorDetails) {
    super('ERR_CLSORT_CACHE', message, details);
  }
}
/**
 * The device, driver or algorithm cannot do what was requested.
 *
 * @remarks Use `algorithm: 'auto'`, another device, or `device: 'host'`. The message says what is missing.
 */
export class UnsupportedError extends ClsortError {
  constructor(message: string, details?: ErrorDetails) {
    super('ERR_CLSORT_UNSUPPORTED', message, details);
  }
}

const CLASSES = [
  UsageError,
  DtypeError,
  InputError,
  NoLoaderError,
  NoPlatformError,
  NoDeviceError,
  BuildError,
  MemoryError,
  DeviceLostError,
  TimeoutError,
  MismatchError,
  FormatError,
  IoError,
  PackageError,
  AbortedError,
  UnsupportedError,
] as const;

/**
 * Creates an error of the class that has a code, for errors that another process reports. A code without a class
 * gives a ClsortError.
 *
 * @param code code of the error, `ERR_CLSORT_…`
 * @param message text of the error
 * @param details cause and facts; default: none
 * @returns the error, which is not thrown
 * @example
 * ```ts
 * const error = errorOfCode('ERR_CLSORT_IO', 'cannot read keys.npy');
 * ```
 */
export function errorOfCode(code: string, message: string, details?: ErrorDetails): ClsortError {
  for (const Type of CLASSES) {
    const error = new Type(message, details);
    if (error.code === code) return error;
  }
  return new ClsortError(code as ErrorCode, message, details);
}
