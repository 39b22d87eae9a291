import {
  BuildError,
  ClsortError,
  DeviceLostError,
  MemoryError,
  UnsupportedError,
} from '../../util/errors.js';

/** OpenCL statuses for insufficient memory, whichever call returned them. */
const MEMORY_STATUSES = new Set([-4, -5, -6, -61]);
/** Statuses after which a context cannot be trusted. */
const LOST_STATUSES = new Set([-14, -36]);

/** Returns the OpenCL status of an error of the binding; undefined if it has none. */
export function statusOf(error: unknown): number | undefined {
  const { status, code } = error as { status?: unknown; code?: unknown };
  if (typeof status === 'number') return status;
  return typeof code === 'number' ? code : undefined;
}

/**
 * Converts an error of the binding to an error class of clsort. Errors of these classes are returned unchanged.
 *
 * @param action failed action, for the message: 'allocate 4 bytes'
 */
export function typedError(error: unknown, action: string): ClsortError {
  if (error instanceof ClsortError) return error;
  const status = statusOf(error);
  const { reason } = error as { reason?: unknown };
  const message = error instanceof Error ? error.message : String(error);
  const description = typeof reason === 'string' ? `${message}: ${reason}` : message;
  const details = { cause: error, details: { status, doing: action } };
  const failed = (reason: string) => `cannot ${action}: ${reason} (${description})`;
  if (status !== undefined && MEMORY_STATUSES.has(status)) {
    return new MemoryError(failed('out of device memory'), details);
  }
  if (status !== undefined && LOST_STATUSES.has(status)) {
    return new DeviceLostError(failed('the device failed'), details);
  }
  if (status === -11 || status === -15 || status === -17) {
    return new BuildError(failed('an OpenCL program did not build'), details);
  }
  if (status === -54 || status === -55 || status === -59 || status === -1001) {
    return new UnsupportedError(failed('the device does not support this'), details);
  }
  return new DeviceLostError(failed('unexpected OpenCL error'), details);
}
