import type { UsageError } from './errors.js';
import { formatValue } from './format-value.js';
import { invalidArgument } from './invalid-argument.js';
import { nearest } from './suggest.js';

/** Returns `Did you mean "X"?`, or undefined if no known word is near enough. */
export function didYouMean(word: string, known: readonly string[]): string | undefined {
  const meant = nearest(word, known);
  return meant === undefined ? undefined : `Did you mean ${formatValue(meant)}?`;
}

/** Creates the error of a value that is not in `known`: `expected one of A, B for NAME but got "a". Did you mean "A"?` */
export const unknownValue = (name: string, got: string, known: readonly string[]): UsageError =>
  invalidArgument(name, `one of ${known.join(', ')}`, got, adviceFor(got, known));

/** Returns the option `advice` of `invalidArgument` for a misspelled word. */
export function adviceFor(word: string, known: readonly string[]): { advice?: string } {
  const advice = didYouMean(word, known);
  return advice === undefined ? {} : { advice };
}
