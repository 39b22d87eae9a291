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
const CERTAIN = [
  UsageError,
  DtypeError,
  FormatError,
  InputError,
  PackageError,
  UnsupportedError,
  AbortedError,
] as const;

/** What the system says of files that waiting does not mend. */
const CERTAIN_CODES = new Set([
  ...['ENOENT', 'EISDIR', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS', 'ELOOP', 'ENAMETOOLONG', 'EEXIST', 'EIO'],
]);

/** Might a job that failed so go well at another time, or on another device? */
export function isWorthAnother(error: unknown): boolean {
  if (CERTAIN.some((type) => error instanceof type)) return false;
  const { code } = ((error as Error | undefined)?.cause ?? {}) as NodeJS.ErrnoException;
  return !(code !== undefined && CERTAIN_CODES.has(code));
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const codeOf = (error: unknown): string =>
  error instanceof ClsortError ? error.code : 'ERR_CLSORT_INTERNAL';
