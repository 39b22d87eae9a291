import {
  BuildError,
  ClsortError,
  DeviceLostError,
  errorOfCode,
  MemoryError,
  MismatchError,
  UnsupportedError,
} from '../../util/errors.js';
import { type SortSettings, throwIfAborted } from '../model/options.js';
import type { DeviceWorker } from './device-worker.js';

/**
 * Whether work that failed on one device may succeed on another one. A MismatchError counts only if
 * `onMismatch` is `retry`.
 */
export function isRetryableElsewhere(error: unknown, { onMismatch }: SortSettings): error is ClsortError {
  if (error instanceof MismatchError) return onMismatch === 'retry';
  const kinds = [DeviceLostError, MemoryError, BuildError, UnsupportedError];
  return error instanceof ClsortError && kinds.some((kind) => error instanceof kind);
}

/**
 * Runs attempts until one succeeds.
 *
 * @throws the error of the first attempt when all fail
 * @throws an error that would occur on any device, at once
 */
export async function firstSuccessful<T>(
  attempts: readonly (readonly [DeviceWorker, () => Promise<T>])[],
  settings: SortSettings,
  warn: (warning: ClsortError) => void,
): Promise<T> {
  let failure: unknown;
  for (const [i, [worker, attempt]] of attempts.entries()) {
    try {
      return await attempt();
    } catch (error) {
      if (!isRetryableElsewhere(error, settings)) throw error;
      failure ??= error;
      if (i === attempts.length - 1) break;
      throwIfAborted(settings.signal);
      const next = attempts[i + 1]?.[0];
      const retry = next === worker ? 'repeating the shard' : `moving the shard to ${next?.info.name}`;
      const message = `cannot process a shard on ${worker.info.name}: ${error.message}; ${retry}`;
      warn(errorOfCode(error.code, message, { cause: error }));
    }
  }
  throw failure;
}
