export const LENGTH_BYTES = Uint32Array.BYTES_PER_ELEMENT;

/** Returns the list of some lengths: u32, little-endian. */
export const lengthList = (lengths: Iterable<number>): Uint8Array =>
  new Uint8Array(Uint32Array.from(lengths).buffer);

/** Returns the list of the lengths of strings that all have the same length. */
export const equalLengths = (strings: number, bytes: number): Uint8Array =>
  new Uint8Array(new Uint32Array(strings).fill(bytes).buffer);
