/** Reads 32 bits, little-endian and without a sign. Bytes beyond the end are 0. */
export const wordAt = (from: Uint8Array, at: number): number =>
  ((from[at] ?? 0) |
    ((from[at + 1] ?? 0) << 8) |
    ((from[at + 2] ?? 0) << 16) |
    ((from[at + 3] ?? 0) << 24)) >>>
  0;
