/** Edit distance of two words (Levenshtein), by rows. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** The known word that `word` was probably meant to be, when one is near enough. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const limit = word.length < 4 ? 1 : Math.max(2, Math.floor(word.length / 3));
  const [best] = known
    .map((name) => ({ name, edits: distance(word.toLowerCase(), name.toLowerCase()) }))
    .filter(({ edits }) => edits <= limit)
    .toSorted((a, b) => a.edits - b.edits);
  return best?.name;
}

/** What to say of a name that is not known: the known ones, and the one that was probably meant. */
export const unknownName = (what: string, word: string, known: readonly string[]): string =>
  `unknown ${what} '${word}': expected one of ${known.join(' ')}${suggestion(word, known)}`;

/** `; did you mean 'X'?`, or nothing. */
export function suggestion(word: string, known: readonly string[]): string {
  const meant = nearest(word, known);
  return meant === undefined ? '' : `; did you mean '${meant}'?`;
}
