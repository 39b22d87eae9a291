/** What every error of clsort carries besides its message. */
export interface ErrorDetails {
  /** The error that led to this one. */
  cause?: unknown;
  /** Facts that a program may want: device name, option name, OpenCL status, build log, … */
  details?: Record<string, unknown>;
}

/**
 * Base of every error that clsort throws on purpose.
 *
 * The message says what happened, what was got and expected, and what to do; `code` is stable and
 * meant for programs.
 */
export class ClsortError extends Error {
  /** Stable identifier, `ERR_CLSORT_…`. */
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, { cause, details = {} }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.code = code;
    this.details = details;
  }
}

/** A subclass with a fixed code: `class X extends withCode('ERR_CLSORT_X') {}`. */
const withCode = (code: string) =>
  class extends ClsortError {
    constructor(message: string, details?: ErrorDetails) {
      super(code, message, details);
    }
  };

/** A wrong call: an unknown option, an impossible combination. */
export class UsageError extends withCode('ERR_CLSORT_USAGE') {}
/** A dtype that is unknown or does not fit the data. */
export class DtypeError extends withCode('ERR_CLSORT_DTYPE') {}
/** Input data that cannot be used: detached, overlapping, wrongly sized. */
export class InputError extends withCode('ERR_CLSORT_INPUT') {}
/** No OpenCL loader (libOpenCL) on this machine. */
export class NoLoaderError extends withCode('ERR_CLSORT_NO_LOADER') {}
/** A loader, but no OpenCL platform (driver) registered with it. */
export class NoPlatformError extends withCode('ERR_CLSORT_NO_PLATFORM') {}
/** Platforms, but no device, or none that matches what was asked for. */
export class NoDeviceError extends withCode('ERR_CLSORT_NO_DEVICE') {}
/** An OpenCL program did not compile; `details.log` holds the build log. */
export class BuildError extends withCode('ERR_CLSORT_BUILD') {}
/** Host or device memory does not suffice. */
export class MemoryError extends withCode('ERR_CLSORT_MEMORY') {}
/** The device stopped answering in a way that its context cannot survive. */
export class DeviceLostError extends withCode('ERR_CLSORT_DEVICE_LOST') {}
/** A deadline passed while the device was working. */
export class TimeoutError extends withCode('ERR_CLSORT_TIMEOUT') {}
/** Verification found that a result is not the sorted permutation of its input. */
export class MismatchError extends withCode('ERR_CLSORT_MISMATCH') {}
/** A file is of a format that cannot be read or written, where raw keys were expected. */
export class FormatError extends withCode('ERR_CLSORT_FORMAT') {}
/** A file could not be read or written. */
export class IoError extends withCode('ERR_CLSORT_IO') {}
/** The caller's AbortSignal fired; `cause` is its reason. Its name is the one that Node and browsers use. */
export class AbortedError extends withCode('ERR_CLSORT_ABORTED') {
  override name = 'AbortError';
}
/** The cache on disk cannot be used: a warning, never thrown at a caller. */
export class CacheError extends withCode('ERR_CLSORT_CACHE') {}
/** The device, driver or algorithm cannot do what was asked. */
export class UnsupportedError extends withCode('ERR_CLSORT_UNSUPPORTED') {}

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
  AbortedError,
  UnsupportedError,
] as const;

/** An error of a code, of the class that has it: for what another process tells of. */
export function errorOfCode(code: string, message: string, details?: ErrorDetails): ClsortError {
  for (const Type of CLASSES) {
    const error = new Type(message, details);
    if (error.code === code) return error;
  }
  return new ClsortError(code, message, details);
}
