import { ClsortError, NoLoaderError, NoPlatformError, UnsupportedError } from '../util/errors.js';

/** "INVALID_MEM_OBJECT" → "Invalid mem object". */
const words = (name: string): string => {
  const text = name.toLowerCase().replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
};

const constants = new Map<number, OpenCLError>();

/** What the native side tells about a failed call. */
export interface FailedCall {
  /** The C function that failed or refused its arguments, such as `clCreateBuffer`. */
  readonly call?: string;
  /** What was wrong with which argument, where the binding found it before the driver did. */
  readonly reason?: string;
  /** The compiler's log, where there is one. */
  readonly log?: string;
}

/**
 * An OpenCL error: what a failing call throws, and what the constants such as `cl.INVALID_VALUE` are.
 *
 * `message` depends on the code alone, so that code written for node-opencl can compare it with
 * `cl.INVALID_VALUE.message`; everything else stands in its own property.
 */
export class OpenCLError extends Error implements FailedCall {
  /** The OpenCL status, such as -30. */
  readonly code: number;
  // Only present where there is something to say, so that an error prints short.
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

/** An error as a constant: without a call, and without a stack that would point nowhere. */
export function errorConstant(name: string, code: number): OpenCLError {
  const error = new OpenCLError(name, code);
  // Not by Error.stackTraceLimit, which --frozen-intrinsics freezes.
  error.stack = `${error.name}: ${error.message}`;
  // Where two names share a number, the first is the core's and the second an extension's.
  if (!constants.has(code)) constants.set(code, error);
  return error;
}

/** Statuses of the native side itself: src/native/call.h has the same numbers. */
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
  of[process.platform] ?? 'ask your system for OpenCL';

/** The error that a failed native call throws; its stack begins at that call. */
export function errorOf(code: number, call: string, reason: string, log: string): Error {
  const error = describe(code, call, reason, log);
  Error.captureStackTrace(error, errorOf);
  return error;
}

function describe(code: number, call: string, reason: string, log: string): Error {
  const details = { call, reason };
  if (code === NO_LOADER) {
    return new NoLoaderError(
      `no OpenCL loader could be opened (${reason}). Install one: ${hint(LOADERS)}; and a driver: ${hint(DRIVERS)}.`,
      { details },
    );
  }
  if (code === PLATFORM_NOT_FOUND) {
    return new NoPlatformError(
      `the OpenCL loader knows no platform, that is, no driver. Install one: ${hint(DRIVERS)}.`,
      { details: { ...details, status: code } },
    );
  }
  if (code === UNSUPPORTED) {
    return new UnsupportedError(`${call} is not supported here: ${reason}`, { details });
  }
  const known = constants.get(code);
  const name = known ? known.name.slice('CL_'.length) : `UNKNOWN_STATUS_${-code}`;
  return new OpenCLError(name, code, { call, reason, log });
}

/** Whether an error came out of this binding. */
export const isOpenCLError = (error: unknown): error is OpenCLError =>
  error instanceof OpenCLError && !(error instanceof ClsortError);
