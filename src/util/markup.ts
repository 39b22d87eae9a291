/** Escaping of text for XML, HTML and Markdown. */
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: XML has none of them
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/gu;

/** Escapes text for XML and HTML, also within quotes. Characters that XML does not allow become U+FFFD. */
export const escapeMarkup = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (letter) => ENTITIES[letter] ?? letter).replaceAll(NOT_XML, '\ufffd');

/** Escapes text for a cell of a Markdown table, on one line. */
export const markdownCell = (text: string): string =>
  text
    .replaceAll(/[\\|`*_<>[\]]/g, '\\$&')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(NOT_XML, '\ufffd');

/** Formats data for a `<script type="application/json">`, so that nothing in it can end the element. */
export const jsonInHtml = (data: unknown): string => JSON.stringify(data).replaceAll('<', '\\u003c');
