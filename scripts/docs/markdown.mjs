// Markdown that is written by generators.

/** Text within a cell of a table: what would end it or be taken for markup stands for itself; code in backquotes stays. */
export const cell = (text) =>
  String(text ?? '')
    .replaceAll(/\s*\n\s*/g, ' ')
    .split(/(`[^`]*`)/)
    .map((part) =>
      part.startsWith('`')
        ? part.replaceAll('|', '\\|')
        : part.replaceAll(/[|<>{}*_[\]]/g, (sign) => `&#${sign.codePointAt(0)};`),
    )
    .join('')
    .trim();

/** Code in a cell. */
export const code = (text) =>
  text === undefined || text === '' ? '' : `\`${String(text).replaceAll('`', '')}\``;

/** A table; headings are text, cells are Markdown already. */
export const table = (headings, rows) =>
  [
    `| ${headings.join(' | ')} |`,
    `|${headings.map(() => '---').join('|')}|`,
    ...rows.map((row) => `| ${row.join(' | ')} |`),
    '',
  ].join('\n');
