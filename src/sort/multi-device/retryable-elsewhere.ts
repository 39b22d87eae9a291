import {
  BuildError,
  ClsortError,
  DeviceLostError,
  MemoryError,
  MismatchError,
  UnsupportedError,
} from '../../util/errors.js';
import type { SortSettings } from '../api/options.js';

/** Would another device do, where one has failed? */
export function isRetryableElsewhere(error: unknown, { onMismatch }: SortSettings): error is ClsortError {
  if (error instanceof MismatchError) return onMismatch === 'retry';
  const kinds = [DeviceLostError, MemoryError, BuildError, UnsupportedError];
  return error instanceof ClsortError && kinds.some((kind) => error instanceof kind);
}
