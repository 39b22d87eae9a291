/** Quoting for shell command lines. */
import { UsageError } from '../util/errors.js';

/**
 * Quotes a word for a shell.
 *
 * @throws UsageError when it contains control characters
 */
export function quoteWord(word: string): string {
  if (/\p{Cc}/u.test(word)) {
    throw new UsageError(`cannot write ${JSON.stringify(word)} to a script: it contains control characters`);
  }
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export const commandLine = (words: readonly string[]): string => words.map(quoteWord).join(' ');
