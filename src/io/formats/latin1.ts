/** Decodes bytes as Latin-1, one character per byte, to inspect headers. */
export const latin1 = (bytes: Uint8Array, begin = 0, end = bytes.length): string =>
  String.fromCharCode(...bytes.subarray(begin, end));
