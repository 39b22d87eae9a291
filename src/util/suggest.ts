import type { ClsortError, UsageError } from './errors.js';
import { formatValue } from './format-value.js';
import { type ErrorClass, invalidArgument } from './invalid-argument.js';

/**
 * Returns the edit distance of two words, computed by rows. A swap of adjacent letters is one edit (optimal string
 * alignment).
 */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwap ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min(change, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}

/** Returns 1 if the first letters are equal, else 0: a wrong first letter is rarer than a missing letter. */
const sharesFirstLetter = (a: string, b: string): number =>
  a[0]?.toLowerCase() === b[0]?.toLowerCase() ? 1 : 0;

/** Names in other programs and languages for names of clsort. */
const SYNONYMS: Readonly<Record<string, string>> = {
  ...{
    double: 'f64',
    float: 'f32',
    half: 'f16',
    brain: 'bf16',
    byte: 'u8',
    short: 'i16',
    int: 'i32',
    long: 'i64',
  },
  ...{ '--reverse': '--descending', reverse: 'descending' },
};

/**
 * Returns the maximum edits between a misspelled word and the known one, without dashes: 0 for one letter, 1 for a
 * short word.
 */
function maxEdits(word: string): number {
  const letters = word.replace(/^-+/, '').length;
  if (letters < 2) return 0;
  return letters < 5 ? 1 : Math.floor((letters + 1) / 3);
}

/** Returns the known word that `word` probably stands for; undefined if none is near enough or the word is known. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (known.includes(word)) return undefined;
  const synonym = Object.hasOwn(SYNONYMS, word) ? SYNONYMS[word] : undefined;
  if (synonym !== undefined && known.includes(synonym)) return synonym;
  const limit = maxEdits(word);
  const [best] = known
    .map((name) => ({ name, edits: distance(word.toLowerCase(), name.toLowerCase()) }))
    .filter(({ edits }) => edits <= limit)
    .toSorted(
      (a, b) => a.edits - b.edits || sharesFirstLetter(b.name, word) - sharesFirstLetter(a.name, word),
    );
  return best?.name;
}

/**
 * Creates the error of an unknown name: `expected one of KNOWN for NAME but got VALUE. Did you mean "X"?`
 *
 * @param name the argument or option as the caller writes it
 * @param got the unknown name
 * @param known the valid names
 * @param type the class, `UsageError` by default
 */
export function invalidName<E extends ClsortError = UsageError>(
  name: string,
  got: unknown,
  known: readonly string[],
  type?: ErrorClass<E>,
): E {
  const advice = typeof got === 'string' ? didYouMean(got, known) : undefined;
  return invalidArgument(name, `one of ${known.join(', ')}`, got, { advice, type });
}

/** Returns `Did you mean "X"?`; undefined if no known name is near enough. */
export function didYouMean(word: string, known: readonly string[]): string | undefined {
  const meant = nearest(word, known);
  return meant === undefined ? undefined : `Did you mean ${formatValue(meant)}?`;
}
