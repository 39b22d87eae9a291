/** Bytes from which on text is no chance: of random ones, four in ten would be right each time. */
const MIN_BYTES = 32;
/** The same for numbers with something between them, for which one byte in twelve would be right. */
const MIN_NUMBER_BYTES = 12;

/** Control characters that text has none of, apart from tabs, ends of lines and form feeds. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it is about
const CONTROL = /[\u0000-\u0008\u000b\u000e-\u001f\u007f-\u009f\ufffe\uffff]/;

const NUMBERS = /^[\d\s+\-.,;:eE_"'|]+$/;

/**
 * Whether a file that begins so is text: lines, JSON, or numbers with something between them. Keys that happen
 * to be printable characters and nothing else, as names of a fixed length are, are not taken for text.
 */
export function looksLikeText(head: Uint8Array): boolean {
  if (head.length < MIN_NUMBER_BYTES) return false;
  let text: string;
  try {
    // As a stream, since the last character may have been cut.
    text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
  } catch {
    return false;
  }
  if (CONTROL.test(text) || !/\S/.test(text)) return false;
  if (NUMBERS.test(text) && /\d[\s,;:|]+["'+\-.]*\d/.test(text)) return true;
  if (head.length < MIN_BYTES) return false;
  return /[\r\n]/.test(text) || /^\s*(\{\s*["}]|\[\s*[[{"\d\-\]])/.test(text);
}
