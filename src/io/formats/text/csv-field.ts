/** Quoting and unquoting of CSV fields. */

export const QUOTE = 0x22;
const ENDS_OF_LINES = [0x0a, 0x0d];

/**
 * Returns the content of a quoted field.
 *
 * @param bytes  the bytes between the quotes
 */
export function unquoteField(bytes: Uint8Array): Uint8Array {
  const text = new Uint8Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    text[length++] = byte;
    if (byte === QUOTE) at++;
  }
  return text.subarray(0, length);
}

/** Returns whether a field needs quotes to be read back as the same text. */
export function needsQuotes(text: Uint8Array, delimiter: Uint8Array): boolean {
  if (text.length === 0 || text.includes(QUOTE) || ENDS_OF_LINES.some((end) => text.includes(end)))
    return true;
  return (
    delimiter.length > 0 &&
    Buffer.from(text.buffer, text.byteOffset, text.length).includes(Buffer.from(delimiter))
  );
}

export function quoteField(text: Uint8Array): Uint8Array {
  let quotes = 0;
  for (const byte of text) if (byte === QUOTE) quotes++;
  const field = new Uint8Array(text.length + quotes + 2);
  let at = 0;
  field[at++] = QUOTE;
  for (const byte of text) {
    field[at++] = byte;
    if (byte === QUOTE) field[at++] = QUOTE;
  }
  field[at] = QUOTE;
  return field;
}

/** Returns a text as a field, quoted if necessary. */
export const formatField = (text: Uint8Array, delimiter: Uint8Array): Uint8Array =>
  needsQuotes(text, delimiter) ? quoteField(text) : text;
