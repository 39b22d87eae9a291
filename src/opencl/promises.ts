import type { NativeFunction } from './native.js';

/** Whether nothing of the program was on the stack when an error was made, as in a turn of the loop. */
const lacksStack = (error: unknown): error is Error =>
  error instanceof Error && !/\n\s+at /.test(error.stack ?? '');

/**
 * Has a native function that returns a promise reject where it would throw, and gives a rejection the stack of the functions
 * that await it.
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
