/** Classifies failures of jobs by whether a retry may help. */
import {
  AbortedError,
  ClsortError,
  DtypeError,
  FormatError,
  InputError,
  PackageError,
  UnsupportedError,
  UsageError,
} from '../util/errors.js';

/** Errors that do not depend on time or device. */
const PERMANENT_ERRORS = [
  UsageError,
  DtypeError,
  FormatError,
  InputError,
  PackageError,
  UnsupportedError,
  AbortedError,
] as const;

/** System error codes that a retry does not resolve. */
const PERMANENT_CODES = new Set([
  ...['ENOENT', 'EISDIR', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS', 'ELOOP', 'ENAMETOOLONG', 'EEXIST', 'EIO'],
]);

/** Whether a job that failed with this error may succeed later or on another device. */
export function isRetryable(error: unknown): boolean {
  if (PERMANENT_ERRORS.some((type) => error instanceof type)) return false;
  const { code } = ((error as Error | undefined)?.cause ?? {}) as NodeJS.ErrnoException;
  return !(code !== undefined && PERMANENT_CODES.has(code));
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const codeOf = (error: unknown): string =>
  error instanceof ClsortError ? error.code : 'ERR_CLSORT_INTERNAL';
