// Helpers for generated Markdown.

/** Escapes text for a table cell; code in backquotes stays. */
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

/** Formats code in a cell. */
export const code = (text) =>
  text === undefined || text === '' ? '' : `\`${String(text).replaceAll('`', '')}\``;

/** Formats a table; headings are plain text, cells are Markdown. */
export const table = (headings, rows) =>
  [
    `| ${headings.join(' | ')} |`,
    `|${headings.map(() => '---').join('|')}|`,
    ...rows.map((row) => `| ${row.join(' | ')} |`),
    '',
  ].join('\n');
