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

/**
 * A wrong call: an unknown option, an impossible combination.
 *
 * @remarks Change the call as the message says; `details.option` names the option. The names of all options are in the reference.
 */
export class UsageError extends withCode('ERR_CLSORT_USAGE') {}
/**
 * A dtype that is unknown or does not fit the data.
 *
 * @remarks Name one of the eleven dtypes, or one as wide as the array's elements.
 */
export class DtypeError extends withCode('ERR_CLSORT_DTYPE') {}
/**
 * Input data that cannot be used: detached, overlapping, wrongly sized.
 *
 * @remarks Give arrays that are there, of the lengths that fit each other, and that do not share memory with the result.
 */
export class InputError extends withCode('ERR_CLSORT_INPUT') {}
/**
 * No OpenCL loader (libOpenCL) on this machine.
 *
 * @remarks Install the loader and a driver, as the message says for your system; or sort with `device: 'host'` meanwhile.
 */
export class NoLoaderError extends withCode('ERR_CLSORT_NO_LOADER') {}
/**
 * A loader, but no OpenCL platform (driver) registered with it.
 *
 * @remarks Install a driver: that of the GPU's vendor, or PoCL, which makes a device of the CPU. `clsort devices` lists what answers.
 */
export class NoPlatformError extends withCode('ERR_CLSORT_NO_PLATFORM') {}
/**
 * Platforms, but no device, or none that matches what was asked for.
 *
 * @remarks Ask for a device that `clsort devices` lists; look whether the user may open the GPU (groups `render`, `video`).
 */
export class NoDeviceError extends withCode('ERR_CLSORT_NO_DEVICE') {}
/**
 * An OpenCL program did not compile; `details.log` holds the build log.
 *
 * @remarks Update the driver, or take another algorithm or device. Under `auto` clsort leaves the variant out by itself. A report with the log and the driver's version helps.
 */
export class BuildError extends withCode('ERR_CLSORT_BUILD') {}
/**
 * Host or device memory does not suffice.
 *
 * @remarks Sort less at once, free other arrays, give pooled memory back with `sorter.trim()`, or sort files with `--memory`.
 */
export class MemoryError extends withCode('ERR_CLSORT_MEMORY') {}
/**
 * The device stopped answering in a way that its context cannot survive.
 *
 * @remarks Call again: the Sorter opens the device anew, and arrays that lay on it are gone. If it comes again, look into the system's log for the driver's words.
 */
export class DeviceLostError extends withCode('ERR_CLSORT_DEVICE_LOST') {}
/**
 * A deadline passed while the device was working.
 *
 * @remarks Give more seconds, or less work. The device was given up, and is opened anew by the next call.
 */
export class TimeoutError extends withCode('ERR_CLSORT_TIMEOUT') {}
/**
 * Verification found that a result is not the sorted permutation of its input.
 *
 * @remarks Do not use the device for this: `clsort devices --certify` and `clsort matrix` tell what it gets wrong. With `onMismatch: 'retry'` clsort sorts another way by itself.
 */
export class MismatchError extends withCode('ERR_CLSORT_MISMATCH') {}
/**
 * A file is of a format that cannot be read or written, where raw keys were expected.
 *
 * @remarks Convert the file, or say what it is with `format`; `raw` takes its bytes as keys whatever they look like.
 */
export class FormatError extends withCode('ERR_CLSORT_FORMAT') {}
/**
 * A file could not be read or written.
 *
 * @remarks See the cause, which is the system's error: path, rights, room on the disk. The output is as it was.
 */
export class IoError extends withCode('ERR_CLSORT_IO') {}
/**
 * A package that clsort takes for one purpose only is not installed, or cannot be used.
 *
 * @remarks Install it beside clsort, as the message says; `details.package` names it.
 */
export class PackageError extends withCode('ERR_CLSORT_PACKAGE') {}
/**
 * The caller's AbortSignal fired; `cause` is its reason. Its name is the one that Node and browsers use.
 *
 * @remarks Nothing is wrong: the call was stopped on purpose. The input is as it was.
 */
export class AbortedError extends withCode('ERR_CLSORT_ABORTED') {
  override name = 'AbortError';
}
/**
 * The cache on disk cannot be used: a warning, never thrown at a caller.
 *
 * @remarks Make the folder yours alone (mode 700), or name another one in `CLSORT_CACHE_DIR`. Sorting goes on without it.
 */
export class CacheError extends withCode('ERR_CLSORT_CACHE') {}
/**
 * The device, driver or algorithm cannot do what was asked.
 *
 * @remarks Take `algorithm: 'auto'`, another device, or `device: 'host'`; the message says what is missing.
 */
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
  PackageError,
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
