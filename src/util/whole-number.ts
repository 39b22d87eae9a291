import { invalidArgument } from './invalid-argument.js';

/**
 * Asserts that an argument is a whole number in a range; undefined is accepted.
 *
 * @param name the argument or option as the caller writes it
 * @param value the value
 * @param range bounds, inclusive; from 1 by default
 * @param got the value as it was written; default `value`
 * @throws UsageError
 */
export function assertWholeNumber(
  name: string,
  value: number | undefined,
  { min = 1, max = Number.MAX_SAFE_INTEGER }: { min?: number; max?: number } = {},
  got: unknown = value,
): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= min && value <= max)) return;
  const range = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`;
  throw invalidArgument(name, `a whole number ${range}`, got);
}
