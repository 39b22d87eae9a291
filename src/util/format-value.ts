/** Maximum characters of a formatted value, so that a message stays readable. */
const MAX_CHARACTERS = 200;
/** Maximum characters of a part of a file in a message, so that it fits on a line. */
const MAX_QUOTED_CHARACTERS = 40;

/**
 * Formats a value for a message, cut off after 200 characters. It uses JSON where that can hold the value, so that
 * strings are quoted, and describes typed arrays by their size. Never throws.
 */
export function formatValue(value: unknown): string {
  return shortenValue(toText(value), MAX_CHARACTERS);
}

/** Truncates a value or a name for a message. */
export const shortenValue = (text: string, most = MAX_QUOTED_CHARACTERS): string =>
  text.length > most ? `${text.slice(0, most)}…` : text;

function toText(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number') return String(value);
  if (ArrayBuffer.isView(value))
    return `${Object.prototype.toString.call(value).slice(8, -1)} of ${value.byteLength} bytes`;
  try {
    const replacer = (_: string, part: unknown): unknown =>
      typeof part === 'bigint'
        ? `${part}n`
        : typeof part === 'number' && !Number.isFinite(part)
          ? `${part}`
          : part;
    return JSON.stringify(value, replacer) ?? String(value);
  } catch {
    return 'a value that cannot be shown'; // circular, too deeply nested, or a getter throws
  }
}
