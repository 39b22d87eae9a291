import {
  BuildError,
  ClsortError,
  DeviceLostError,
  MemoryError,
  MismatchError,
  UnsupportedError,
} from '../../util/errors.js';
import type { SortSettings } from '../model/options.js';

/**
 * Whether work that failed on one device may succeed on another one. A MismatchError counts only if
 * `onMismatch` is `retry`.
 */
export function isRetryableElsewhere(error: unknown, { onMismatch }: SortSettings): error is ClsortError {
  if (error instanceof MismatchError) return onMismatch === 'retry';
  const kinds = [DeviceLostError, MemoryError, BuildError, UnsupportedError];
  return error instanceof ClsortError && kinds.some((kind) => error instanceof kind);
}
