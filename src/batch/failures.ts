/** What failures of jobs are: whether another try is worth it. */
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

/** What comes out the same however often it is tried. */
const PERMANENT_ERRORS = [
  UsageError,
  DtypeError,
  FormatError,
  InputError,
  PackageError,
  UnsupportedError,
  AbortedError,
] as const;

/** What the system says of files that waiting does not mend. */
const PERMANENT_CODES = new Set([
  ...['ENOENT', 'EISDIR', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS', 'ELOOP', 'ENAMETOOLONG', 'EEXIST', 'EIO'],
]);

/** Might a job that failed so go well at another time, or on another device? */
export function isRetryable(error: unknown): boolean {
  if (PERMANENT_ERRORS.some((type) => error instanceof type)) return false;
  const { code } = ((error as Error | undefined)?.cause ?? {}) as NodeJS.ErrnoException;
  return !(code !== undefined && PERMANENT_CODES.has(code));
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const codeOf = (error: unknown): string =>
  error instanceof ClsortError ? error.code : 'ERR_CLSORT_INTERNAL';
