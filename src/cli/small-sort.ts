/** Sorts that are over before a thread for them has started. */
import { statSync } from 'node:fs';
import { beforeDashes } from './about.js';

/** Files of at most so many bytes are small: their keys are fewer than those that a device would be opened for. */
const SMALL_BYTES = 2 ** 16;

/** Options that say nothing of a device, of processes or of other files. */
const HARMLESS =
  /^(-[oqru]+|--(out|quiet|descending|unique|dtype|nan|bits|format|to|argsort|verify|report|json)(=.*)?)$/;

/**
 * Is this, by the looks of the words alone, a sort of small files? The command line is not read yet, and settings are not
 * known, so that the answer may be wrong: who would open a device asks again (`sorter-for.ts`).
 */
export function isSmallSort(argv: readonly string[]): boolean {
  const [verb, ...words] = argv;
  if (verb !== 'sort' || beforeDashes(words).length < words.length) return false;
  return words.every((word) => (word.startsWith('-') ? HARMLESS.test(word) : isSmall(word)));
}

/** What is not there is small, too: a file that is to be made, or the value of an option. */
function isSmall(word: string): boolean {
  try {
    const stats = statSync(word, { throwIfNoEntry: false });
    return stats === undefined || (stats.isFile() && stats.size <= SMALL_BYTES);
  } catch {
    return false;
  }
}
