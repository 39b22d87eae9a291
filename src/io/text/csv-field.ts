/** Fields of a CSV, between quotes and without. */

export const QUOTE = 0x22;
const ENDS_OF_LINES = [0x0a, 0x0d];

/** What a quoted field holds. @param bytes between its quotes */
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

/** Whether a field has to be quoted, so that it is read as the text that it is. */
export function needsQuotes(text: Uint8Array, delimiter: Uint8Array): boolean {
  if (text.length === 0 || text.includes(QUOTE) || ENDS_OF_LINES.some((end) => text.includes(end)))
    return true;
  return (
    delimiter.length > 0 &&
    Buffer.from(text.buffer, text.byteOffset, text.length).includes(Buffer.from(delimiter))
  );
}

/** A text between quotes. */
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

/** A text as a field, between quotes where it has to be. */
export const formatField = (text: Uint8Array, delimiter: Uint8Array): Uint8Array =>
  needsQuotes(text, delimiter) ? quoteField(text) : text;
