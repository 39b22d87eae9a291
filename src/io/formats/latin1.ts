/** Bytes as text, a character for each: how headers are looked at. */
export const latin1 = (bytes: Uint8Array, begin = 0, end = bytes.length): string =>
  String.fromCharCode(...bytes.subarray(begin, end));
