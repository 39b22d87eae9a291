import type { NativeFunction } from './native.js';

/** Whether an error was made without JavaScript on the stack, as in a turn of the event loop. */
const lacksStack = (error: unknown): error is Error =>
  error instanceof Error && !/\n\s+at /.test(error.stack ?? '');

/**
 * Wraps a native function that returns a promise: it rejects instead of throwing, and rejections get the stack of the
 * functions that await them.
 */
export function rejectInsteadOfThrow(original: NativeFunction): NativeFunction {
  return async function settle(...args) {
    try {
      return await original(...args);
    } catch (error) {
      if (lacksStack(error)) Error.captureStackTrace(error);
      throw error;
    }
  };
}
