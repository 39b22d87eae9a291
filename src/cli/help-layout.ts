/** Lays out help in columns as yargs does. Loading yargs takes Node longer than the rest of `--help`. */

/** A term, its description, and a note at the right margin. */
export type HelpRow = readonly [term: string, text: string, note?: string];

export type HelpSection = readonly [title: string, rows: readonly HelpRow[]];

/** Spaces before a term and after it. */
const MARGIN = 2;

/**
 * Returns the text of help.
 *
 * @param usage the first lines
 * @param sections those without rows are omitted
 * @param epilogue the last lines
 */
export function layOut(
  usage: string,
  sections: readonly HelpSection[],
  epilogue: string,
  width: number,
): string {
  const parts = sections.flatMap(([title, rows]) =>
    rows.length > 0 ? [[title, ...table(rows, width)].join('\n')] : [],
  );
  return [wrapLines(usage, width), ...parts, wrapLines(epilogue, width)].join('\n\n');
}

/** Aligns the descriptions in a column that begins in the left half. */
function table(rows: readonly HelpRow[], width: number): string[] {
  const longest = Math.max(...rows.map(([term]) => term.length));
  const termWidth = Math.min(longest, Math.floor(width / 2));
  const column = termWidth + 2 * MARGIN;
  return rows.flatMap(([term, text, note = '']) => {
    const indent = ' '.repeat(MARGIN + term.length - term.trimStart().length);
    const terms = wrap(term.trimStart(), column - MARGIN - indent.length).map((line) => indent + line);
    const texts = wrap(text, width - column);
    const lines = (terms.length > texts.length ? terms : texts).map((_, i) =>
      ((terms[i] ?? '').padEnd(column) + (texts[i] ?? '')).trimEnd(),
    );
    const [first = '', ...others] = wrap(note, width - MARGIN).map((line) => line.padStart(width));
    const last = lines.at(-1) ?? '';
    if (first.trim() === '') return lines;
    const fits = last.length <= width - first.trim().length;
    return [
      ...(fits ? [...lines.slice(0, -1), last + first.slice(last.length)] : [...lines, first]),
      ...others,
    ];
  });
}

const wrapLines = (text: string, width: number): string =>
  text
    .split('\n')
    .flatMap((line) => wrap(line, width))
    .join('\n');

/** Breaks text into lines at spaces; a word that is longer than a line is broken where it saves a line. */
function wrap(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.pop() ?? '';
    const joined = line === '' ? word : `${line} ${word}`;
    const linesOf = (text: string): number => Math.ceil(text.length / width);
    if (joined.length <= width) lines.push(joined);
    else if (word.length <= width || linesOf(joined) > linesOf(word))
      lines.push(...(line ? [line] : []), ...pieces(word, width));
    else lines.push(...pieces(joined, width));
  }
  return lines;
}

const pieces = (word: string, width: number): string[] =>
  Array.from({ length: Math.ceil(word.length / width) }, (_, i) => word.slice(i * width, (i + 1) * width));
