import { ClsortError, NoLoaderError, NoPlatformError, UnsupportedError } from '../util/errors.js';

/** "INVALID_MEM_OBJECT" → "Invalid mem object". */
const words = (name: string): string => {
  const text = name.toLowerCase().replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
};

const constants = new Map<number, OpenCLError>();

/** Details of a failed call. */
export interface FailedCall {
  /** The C function that failed or rejected its arguments, such as `clCreateBuffer`. */
  readonly call?: string;
  /** The invalid argument and its problem, if the binding detected the error before the driver. */
  readonly reason?: string;
  /** The log of the compiler, if there is one. */
  readonly log?: string;
}

/**
 * OpenCL error: the class of the errors that calls throw and of constants such as `cl.INVALID_VALUE`.
 *
 * `message` depends only on the code, so that programs written for node-opencl can compare it with
 * `cl.INVALID_VALUE.message`. All other details are separate properties.
 *
 * @example
 * ```ts
 * try {
 *   cl.buildProgram(program);
 * } catch (error) {
 *   if (error instanceof cl.OpenCLError) console.error(error.code, error.log);
 * }
 * ```
 */
export class OpenCLError extends Error implements FailedCall {
  /** OpenCL status code, such as -30. */
  readonly code: number;
  // Defined only if they have a value, so that errors print short.
  declare readonly call?: string;
  declare readonly reason?: string;
  declare readonly log?: string;

  constructor(name: string, code: number, { call, reason, log }: FailedCall = {}) {
    super(words(name));
    this.name = `CL_${name}`;
    this.code = code;
    if (call) this.call = call;
    if (reason) this.reason = reason;
    if (log) this.log = log;
  }
}

/** Returns an error for use as a constant: without a call and without a stack. */
export function errorConstant(name: string, code: number): OpenCLError {
  const error = new OpenCLError(name, code);
  // Error.stackTraceLimit is no alternative: --frozen-intrinsics freezes it.
  error.stack = `${error.name}: ${error.message}`;
  // If two names share a number, the first is from the core and the second from an extension.
  if (!constants.has(code)) constants.set(code, error);
  return error;
}

/** Status codes of the addon itself; src/native/call.h defines the same numbers. */
const NO_LOADER = -2_000_001;
const UNSUPPORTED = -2_000_002;
const PLATFORM_NOT_FOUND = -1001;

const DRIVERS: Partial<Record<NodeJS.Platform, string>> = {
  linux:
    "your GPU vendor's OpenCL driver, or a CPU device: 'apt install pocl-opencl-icd' (Debian, Ubuntu), 'dnf install pocl' (Fedora), 'pacman -S pocl' (Arch)",
  darwin: "macOS brings its own driver; a further CPU device: 'brew install pocl'",
  win32: "your GPU vendor's graphics driver, or Intel's CPU runtime for OpenCL",
};
const LOADERS: Partial<Record<NodeJS.Platform, string>> = {
  linux:
    "'apt install ocl-icd-libopencl1' (Debian, Ubuntu), 'dnf install ocl-icd' (Fedora), 'pacman -S ocl-icd' (Arch)",
  darwin: 'macOS has one in /System/Library/Frameworks/OpenCL.framework',
  win32: 'OpenCL.dll comes with the graphics driver',
};

const hint = (of: Partial<Record<NodeJS.Platform, string>>): string =>
  of[process.platform] ?? 'see the documentation of your system';

/** Returns the error that a failed call of the addon throws; its stack begins at that call. */
export function errorOf(code: number, call: string, reason: string, log: string): Error {
  const error = describe(code, call, reason, log);
  Error.captureStackTrace(error, errorOf);
  return error;
}

function describe(code: number, call: string, reason: string, log: string): Error {
  const details = { call, reason };
  if (code === NO_LOADER) {
    return new NoLoaderError(
      `cannot open an OpenCL loader: ${reason}. Install one: ${hint(LOADERS)}; and a driver: ${hint(DRIVERS)}. For more, run clsort doctor`,
      { details },
    );
  }
  if (code === PLATFORM_NOT_FOUND) {
    return new NoPlatformError(
      `cannot find an OpenCL platform: no driver is installed. Install one: ${hint(DRIVERS)}. For more, run clsort doctor`,
      { details: { ...details, status: code } },
    );
  }
  if (code === UNSUPPORTED) return new UnsupportedError(`cannot call ${call}: ${reason}`, { details });
  const known = constants.get(code);
  const name = known ? known.name.slice('CL_'.length) : `UNKNOWN_STATUS_${-code}`;
  return new OpenCLError(name, code, { call, reason, log });
}

/** Whether this binding made the error. */
export const isOpenCLError = (error: unknown): error is OpenCLError =>
  error instanceof OpenCLError && !(error instanceof ClsortError);
