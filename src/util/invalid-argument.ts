import { type ClsortError, type ErrorDetails, UsageError } from './errors.js';
import { formatValue } from './format-value.js';

export type ErrorClass<E> = new (message: string, details?: ErrorDetails) => E;

/** Formats an error message: what happened, then a sentence that says what to do. */
export const withAdvice = (message: string, advice: string | undefined): string =>
  advice === undefined ? message : `${message}. ${advice}`;

/**
 * Creates the error of an invalid argument: `expected EXPECTED for NAME but got VALUE. ADVICE`.
 *
 * @param name the argument or option as the caller writes it: `timeout`, `--workers`
 * @param expected the valid values: `a whole number from 1 to 16`
 * @param got the value, which is formatted; `{ text }` is inserted as it is
 * @param options `advice`: one sentence without its period. `type`: the class, `UsageError` by default. `details`:
 *   facts for programs beside `option` and `got`.
 */
export function invalidArgument<E extends ClsortError = UsageError>(
  name: string,
  expected: string,
  got: unknown,
  {
    advice,
    type,
    details,
  }: {
    advice?: string | undefined;
    type?: ErrorClass<E> | undefined;
    details?: Record<string, unknown>;
  } = {},
): E {
  const Type = type ?? (UsageError as unknown as ErrorClass<E>);
  const isText = typeof got === 'object' && got !== null && 'text' in got;
  const shown = isText ? String(got.text) : formatValue(got);
  const message = withAdvice(`expected ${expected} for ${name} but got ${shown}`, advice);
  return new Type(message, { details: { option: name, got: isText ? shown : got, ...details } });
}
