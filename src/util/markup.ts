/** Text that becomes part of XML, HTML or Markdown. */
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: XML has none of them
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/gu;

/** Text for XML and HTML, also within quotes; what XML has no characters for becomes that of a replacement. */
export const escapeMarkup = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (letter) => ENTITIES[letter] ?? letter).replaceAll(NOT_XML, '\ufffd');

/** Text for a cell of a Markdown table: what would end it, or begin something else, is taken for itself. */
export const markdownCell = (text: string): string =>
  text
    .replaceAll(/[\\|`*_<>[\]]/g, '\\$&')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(NOT_XML, '\ufffd');

/** Data for a `<script type="application/json">`, which nothing in them can end. */
export const jsonInHtml = (data: unknown): string => JSON.stringify(data).replaceAll('<', '\\u003c');
