import type { FileFormat } from './file-format.js';

/** Text of an unknown kind. */
export const TEXT: FileFormat = { name: 'text', extensions: [], hint: 'Use --format lines, csv or ndjson' };

/** Minimum length of detected text. Random bytes would pass each check with probability 0.4 per byte. */
const MIN_BYTES = 32;
/**
 * Minimum length of text that consists of delimited numbers. Random bytes would pass with probability 1/12 per byte.
 */
const MIN_NUMBER_BYTES = 12;

/** Returns whether the first bytes of a stream are text other than JSON objects, of any length. */
export const looksLikeLines = (head: Uint8Array): boolean =>
  head.length > 0 && head[0] !== 0x7b && head.every((byte) => byte >= 0x20 || (byte >= 0x09 && byte <= 0x0d));

/** Control characters that do not occur in text. Tabs, line ends and form feeds are allowed. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it is about
const CONTROL = /[\u0000-\u0008\u000b\u000e-\u001f\u007f-\u009f\ufffe\uffff]/;

const NUMBERS = /^[\d\s+\-.,;:eE_"'|]+$/;

/**
 * Returns whether a file with these first bytes is text: lines, JSON, or delimited numbers. Keys that happen to
 * consist of printable characters only, such as fixed-length names, are not text.
 */
export function looksLikeText(head: Uint8Array): boolean {
  if (head.length < MIN_NUMBER_BYTES) return false;
  let text: string;
  try {
    // Streaming mode, because the last character may be truncated.
    text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
  } catch {
    return false;
  }
  if (CONTROL.test(text) || !/\S/.test(text)) return false;
  if (NUMBERS.test(text) && /\d[\s,;:|]+["'+\-.]*\d/.test(text)) return true;
  if (head.length < MIN_BYTES) return false;
  return /[\r\n]/.test(text) || /^\s*(\{\s*["}]|\[\s*[[{"\d\-\]])/.test(text);
}
