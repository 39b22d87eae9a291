/** Detects sorts that end before a worker thread would have started. */
import { statSync } from 'node:fs';
import { beforeDashes } from './about.js';

/** Largest size of a small file, in bytes. It holds fewer keys than a device would be opened for. */
const SMALL_BYTES = 2 ** 16;

/** Options that need no device, no process and no other file. */
const HARMLESS =
  /^(-[bdfgnoqrsuzCRV]+|-[kt].*|--(out|quiet|descending|unique|dtype|nan|bits|format|to|argsort|verify|report|json)(=.*)?)$/;

/**
 * Guesses from the words alone whether this is a sort of small files. The command line is not parsed and settings are
 * unknown, so the answer may be wrong: `sorter-for.ts` checks again before it opens a device.
 */
export function isSmallSort(argv: readonly string[]): boolean {
  const [verb, ...words] = argv;
  if (verb !== 'sort' || beforeDashes(words).length < words.length) return false;
  return words.every((word) => (word.startsWith('-') ? HARMLESS.test(word) : isSmall(word)));
}

/** A missing path counts as small: it is a file to create, or the value of an option. */
function isSmall(word: string): boolean {
  try {
    const stats = statSync(word, { throwIfNoEntry: false });
    return stats === undefined || (stats.isFile() && stats.size <= SMALL_BYTES);
  } catch {
    return false;
  }
}
