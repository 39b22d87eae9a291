import { ClosedPipeError } from '../io/streams/output.js';
import {
  AbortedError,
  ClsortError,
  DtypeError,
  FormatError,
  InputError,
  IoError,
  NoDeviceError,
  NoLoaderError,
  NoPlatformError,
  PackageError,
  UsageError,
} from '../util/errors.js';

/** Exit codes of the command. Scripts rely on them. */
export const EXIT = {
  ok: 0,
  /**
   * `check`: the file is not sorted, or is no permutation. `matrix` and `bench`: a row failed. `bench`: a row is slower
   * than its baseline.
   */
  notSorted: 1,
  usage: 2,
  noDevice: 3,
  /** The device failed, or its result was wrong. */
  device: 4,
  io: 5,
  interrupted: 130,
  /** stdout was closed by its reader; 128 + SIGPIPE, as for other tools. */
  closedPipe: 141,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Exit codes with their meaning, for help texts. */
export const EXIT_CODES: readonly (readonly [code: string, meaning: string])[] = [
  ['0', 'ok'],
  ['1', 'not sorted or slower'],
  ['2', 'usage'],
  ['3', 'no device'],
  ['4', 'device failure'],
  ['5', 'I/O, another format or a missing package'],
  ['128 + n', 'ended by signal n'],
];

type ErrorClass = abstract new (...args: never[]) => Error;

const CODES: readonly (readonly [ErrorClass, ExitCode])[] = [
  [UsageError, EXIT.usage],
  [DtypeError, EXIT.usage],
  [NoLoaderError, EXIT.noDevice],
  [NoPlatformError, EXIT.noDevice],
  [NoDeviceError, EXIT.noDevice],
  [ClosedPipeError, EXIT.closedPipe],
  [IoError, EXIT.io],
  [InputError, EXIT.io],
  [FormatError, EXIT.io],
  [PackageError, EXIT.io],
  [AbortedError, EXIT.interrupted],
  [ClsortError, EXIT.device], // build, memory, device lost, timeout, mismatch, unsupported
];

/** Returns the exit code for an error; undefined for an internal error. */
export function exitCodeOf(error: unknown): ExitCode | undefined {
  return CODES.find(([type]) => error instanceof type)?.[1];
}
