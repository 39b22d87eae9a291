/** Quoting for shell command lines. */
import { UsageError } from '../util/errors.js';

/**
 * Quotes a word for a shell.
 *
 * @throws UsageError when it contains control characters
 */
export function quoteWord(word: string): string {
  if (/\p{Cc}/u.test(word)) {
    throw new UsageError(
      `${JSON.stringify(word)} has characters that no script should have: name files without them`,
    );
  }
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export const commandLine = (words: readonly string[]): string => words.map(quoteWord).join(' ');
