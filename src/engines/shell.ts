/** Words of a shell's command line. */
import { UsageError } from '../util/errors.js';

/** A word that a shell takes as it is. @throws UsageError for one that no script should have */
export function quoteWord(word: string): string {
  if (/\p{Cc}/u.test(word)) {
    throw new UsageError(
      `${JSON.stringify(word)} has characters that no script should have: name files without them`,
    );
  }
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export const commandLine = (words: readonly string[]): string => words.map(quoteWord).join(' ');
